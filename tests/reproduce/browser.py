"""Chromium as a test drives it: the WebDriver protocol over HTTP, by chromedriver, without a library."""

import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

DRIVER = shutil.which("chromedriver")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "" if DRIVER and CHROMIUM else "needs chromium and chromedriver (Debian: chromium chromium-driver)"
KEYS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class Browser:
    """One headless window; use it in a ``with`` statement."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._driver = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._at = f"http://127.0.0.1:{port}/session"
        options = {
            "binary": CHROMIUM,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self._profile.name}"],
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        for _ in range(100):
            try:
                made = self._ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        self._at += f"/{made['sessionId']}"

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait()
            self._profile.cleanup()

    def _ask(self, method, path, body=None):
        content = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._at + path, content, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def open(self, path: Path, place: str = "") -> None:
        """A page from the disk, read anew."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": path.resolve().as_uri() + (f"#{place}" if place else "")})

    def run(self, script: str, *given):
        """What a script gives back."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(given)})

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """The size of what is seen, in pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.tell("Emulation.setDeviceMetricsOverride", metrics)

    def tell(self, command: str, given) -> None:
        """A command of the browser's own protocol."""
        self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": given})

    def hover(self, selector: str) -> None:
        """Put the pointer on the middle of an element."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        middle = "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
        x, y = self.run(middle + "return [Math.round(b.x + b.width / 2), Math.round(b.y + b.height / 2)]", selector)
        moves = [{"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"}]
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": moves}]})

    def press(self, *keys: str) -> None:
        """Keys, where the focus is."""
        moves = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": moves}]})

    def complaints(self) -> list[str]:
        """What stood in the console since it was last asked for."""
        return [line["message"] for line in self._ask("POST", "/se/log", {"type": "browser"})]
