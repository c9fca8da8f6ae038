import asyncio
import threading

from penstock.storage.io_thread import IoThread


def test_work_runs_on_it():
    async def where():
        await asyncio.sleep(0)
        return threading.current_thread().name

    thread = IoThread()
    assert thread.submit(where()).result(10) == "penstock-storage"
    thread.stop()


def test_it_ends_only_when_nobody_brings_a_result_any_more(monkeypatch):
    """A thread of another library that comes back to Python too late would end the process."""
    thread = IoThread()
    is_within, may_go = threading.Event(), threading.Event()
    wake = thread.loop._write_to_self

    def wake_slowly():
        wake()
        is_within.set()
        may_go.wait(10)

    monkeypatch.setattr(thread.loop, "_write_to_self", wake_slowly)
    other = threading.Thread(target=thread.loop.call_soon_threadsafe, args=(print,))
    other.start()
    is_within.wait(10)
    monkeypatch.undo()
    ends = threading.Thread(target=thread.stop)
    ends.start()
    ends.join(0.1)

    assert ends.is_alive()
    may_go.set()
    ends.join(10)
    assert not ends.is_alive()
    other.join()
