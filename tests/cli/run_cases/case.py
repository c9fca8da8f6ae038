"""One script of the table, with what it is started with."""

import zipfile
from dataclasses import dataclass, field
from pathlib import Path

Files = dict[str, str | bytes]


@dataclass(frozen=True)
class Case:
    """A script, and how to start it. What is given as `start` stands after `python`."""

    script: str | bytes = ""  # becomes train.py
    start: tuple[str, ...] = ("train.py",)
    files: Files = field(default_factory=dict)  # others in its folder, which is the current one
    links: dict[str, str] = field(default_factory=dict)  # symbolic links, and where they lead
    zipped: Files = field(default_factory=dict)  # becomes program.zip
    stdin: str = ""
    stdout: str = "pipe"  # or "no reader", "full"
    environment: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # variables that are not set
    options: tuple[str, ...] = ()  # of Python itself
    needs: str = ""  # a library
    python: tuple[int, int] = (3, 10)  # the first in which it is the same

    def write(self, folder: Path) -> None:
        """Put the script and all that belongs to it into a new folder."""
        for name, content in {"train.py": self.script, **self.files}.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name, target in self.links.items():
            (folder / name).symlink_to(target)
        if self.zipped:
            with zipfile.ZipFile(folder / "program.zip", "w") as archive:
                for name, content in self.zipped.items():
                    archive.writestr(name, content)
