"""Drives headless Chromium over its DevTools protocol, with nothing but Python's standard library."""

import base64
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse


class WebSocket:
    """A client as RFC 6455 has it, for text messages."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"no web socket: {head!r}")

    def receive(self):
        part = self.socket.recv(1 << 20)
        if not part:
            raise RuntimeError("the browser has closed the connection")
        return part

    def take(self, count):
        while len(self.buffer) < count:
            self.buffer += self.receive()
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        head = bytes([0x81])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += struct.pack(">BH", 0x80 | 126, len(data))
        else:
            head += struct.pack(">BQ", 0x80 | 127, len(data))
        self.socket.sendall(head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)))

    def message(self):
        data = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.take(8))
            part = self.take(length)
            if first & 0x0F == 0x8:
                raise RuntimeError("the browser has closed the web socket")
            if first & 0x0F in (0x0, 0x1):
                data += part
                if first & 0x80:
                    return data.decode()

    def has_message(self):
        return bool(self.buffer) or bool(select.select([self.socket], [], [], 0)[0])


class Browser:
    """A process of Chromium and one page of it."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="strata-browser-")
        identity = {}
        if os.geteuid() == 0:
            # Chromium's sandbox refuses root.
            os.chown(self.folder, 65534, 65534)
            identity = {"user": 65534, "group": 65534, "extra_groups": []}
        options = [
            "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self.folder}/data", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-crash-reporter", "--force-device-scale-factor=1", "--hide-scrollbars",
        ]
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "LANG": "C.UTF-8"}
        self.log = open(f"{self.folder}/log", "wb")
        for sandbox in ([], ["--no-sandbox"]):
            if sandbox:
                print("browser: its sandbox cannot be had on this machine; going on without", flush=True)
            self.process = subprocess.Popen(
                [program, *options, *sandbox, "about:blank"], stdout=subprocess.DEVNULL, stderr=self.log,
                env=environment, cwd=self.folder, start_new_session=True, **identity)
            if self.connect():
                break
            self.end()
        else:
            with open(f"{self.folder}/log", errors="replace") as file:
                raise RuntimeError("Chromium does not start: " + file.read()[-2000:])
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def connect(self):
        place = f"{self.folder}/data/DevToolsActivePort"
        end = time.monotonic() + 40
        while time.monotonic() < end and self.process.poll() is None:
            if os.path.exists(place):
                with open(place) as file:
                    lines = file.read().split()
                if len(lines) == 2:
                    self.socket = WebSocket(f"ws://127.0.0.1:{lines[0]}{lines[1]}")
                    return True
            time.sleep(0.05)
        return False

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self):
        self.end()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.message())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        if "method" in event:
            self.events.append(event)
            if event["method"] == "Page.javascriptDialogOpening":
                raise RuntimeError(f"a dialog opened: {event['params']['message']}")

    def wait(self, what, condition, seconds=20):
        """Until an expression is true in the page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(condition):
                    return
            except RuntimeError as error:
                # Between two pages there is none.
                if "context" not in str(error) and "navigated" not in str(error):
                    raise
            time.sleep(0.05)
        raise AssertionError(f"{what}: not in {seconds} s at {self.run('location.href')}: {condition}")

    def run(self, expression):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url):
        self.run("window.leaving = true")
        result = self.call("Page.navigate", url=url)
        if "errorText" in result:
            raise RuntimeError(f"{url}: {result['errorText']}")
        self.loaded()

    def loaded(self):
        self.wait("the page loads", "!window.leaving && document.readyState === 'complete'")

    def follow(self, action):
        """Does something that leads to another page."""
        self.run("window.leaving = true")
        action()
        self.loaded()

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def key(self, key, text=None):
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if text is None and len(key) == 1:
            text = key
        if key == "Enter":
            text = "\r"
        if text:
            event["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in event.items() if k != "text"})

    def press(self, selector):
        """The mouse's button on an element."""
        place = self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                         "return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def type(self, text):
        for letter in text:
            self.call("Input.insertText", text=letter)

    def problems(self):
        """What the browser has complained about since the last time."""
        self.run("1")
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                # Where there is no page of ours, the browser asks for an icon by itself.
                if parameters["entry"].get("url", "").endswith("/favicon.ico"):
                    continue
                found.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        self.events = []
        return found

    def size(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def look(self, scheme):
        self.call(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def framed(self):
        """The addresses of what the page's frames show, also of those in processes of their own."""
        frames = self.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        shown = [frame["frame"]["url"] for frame in frames]
        page, self.session = self.session, None
        try:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] != "iframe":
                    continue
                self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
                shown.append(self.run("document.URL"))
                self.session = None
        finally:
            self.session = page
        return shown

    def screenshot(self, path):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as file:
            file.write(data)
        return len(data)

    def unnamed(self):
        """Things to use on the page that a screen reader has no name for."""
        roles = {"button", "link", "textbox", "combobox", "spinbutton", "table", "img", "image", "dialog", "searchbox"}
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            node["role"]["value"] for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") in roles
            and not node.get("name", {}).get("value")
        ]
