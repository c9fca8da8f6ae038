"""Clocks for tests: what is measured with them does not depend on the machine."""


class StillClock:
    """Moves only when told to."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s

    def sleep(self, seconds):
        """Let time pass."""
        self.now_s += seconds


class TickingClock(StillClock):
    """Also moves a little at each reading, which costs time on a real machine too."""

    def __call__(self):
        self.now_s += 1e-6
        return self.now_s
