"""A stand-in for pynvml, and with it for a driver and a GPU."""

import types


class FakeNvmlError(Exception):
    pass


class FakeNvml(types.ModuleType):
    """The part of pynvml that is used."""

    NVMLError = FakeNvmlError

    def __init__(self, fails=()):
        super().__init__("pynvml")
        self.fails, self.calls = fails, []

    def answer(self, call, value=None):
        self.calls.append(call)
        if call in self.fails:
            raise FakeNvmlError("Driver Not Loaded")
        return value

    def nvmlInit(self):  # noqa: N802 (the driver's name)
        self.answer("init")

    def nvmlShutdown(self):  # noqa: N802
        self.answer("shutdown")

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return self.answer("by index", index)

    def nvmlDeviceGetHandleByUUID(self, uuid):  # noqa: N802
        return self.answer("by uuid", uuid)

    def nvmlDeviceGetUtilizationRates(self, handle):  # noqa: N802
        return self.answer("rates", types.SimpleNamespace(gpu=40, memory=5))
