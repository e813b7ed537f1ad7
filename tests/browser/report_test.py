#!/usr/bin/python3
"""Opens reports in headless Chromium, at desktop and phone width, and uses them by keyboard.

  report_test.py LPPOOL_CLI TESTDATA [MODEL...]
                                            run the test, also on real models; exit 77 (skipped) without Chromium
  report_test.py --shots PAGE FOLDER        screenshots of a page for people to look at: each width, light and dark

Chromium is driven over a pipe by its own DevTools protocol, so nothing but Python's standard library is needed.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

WIDTHS = {"desktop": 1280, "phone": 390}
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""), "Space": ("Space", 32, " "), "/": ("Slash", 191, "/")}


class Browser:
    """One Chromium with one page, spoken to over --remote-debugging-pipe."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def place():  # the protocol is spoken on descriptors 3 and 4
            a, b = os.dup(to_read), os.dup(back_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        # no-sandbox: the test may run as root in a container, on pages that this repository wrote
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--user-data-dir=" + self.profile, "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=place)
        os.close(to_read)
        os.close(back_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def read(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], 60)
            data = os.read(self.back, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("the browser has ended, or says nothing for a minute")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, scheme="light", height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        loader = self.call("Page.navigate", url="file://" + os.path.abspath(path))["loaderId"]

        def loaded(e):
            return e.get("method") == "Page.lifecycleEvent" and e["params"]["name"] == "load" and e["params"]["loaderId"] == loader

        while not any(loaded(e) for e in self.events):
            self.events.append(self.read())

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, name):
        code, number, text = KEYS[name]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=" " if name == "Space" else name, code=code, windowsVirtualKeyCode=number,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def problems(self):
        found = []
        for e in self.events:
            method, p = e.get("method"), e.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + json.dumps(p["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
                found.append("console: " + json.dumps(p["args"]))
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append("log: " + p["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append("request: " + p["request"]["url"])
            elif method == "Page.javascriptDialogOpening":
                found.append("dialog: " + p["message"])
        return found

    def shot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def check_page(browser, page, say):
    for label, width in WIDTHS.items():
        browser.open(page, width)
        say(browser.value("document.documentElement.scrollWidth") <= width, f"{label}: the page is no wider than the window")
        browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        say(browser.value("document.documentElement.scrollWidth") <= width, f"{label}: nor with everything open")
        say(browser.value("document.querySelectorAll('svg.graph rect').length") > 0, f"{label}: the graph is drawn")
        broken = browser.value("[...document.images].filter(i => !i.complete || i.naturalWidth == 0).length")
        say(broken == 0, f"{label}: every picture is shown")
        say(not browser.problems(), f"{label}: nothing to complain about: {browser.problems()}")


def check_keyboard(browser, page, say):
    browser.open(page, 1280)
    shown = "[...document.querySelectorAll('.node')].filter(n => n.offsetParent !== null).length"
    total = browser.value(shown)
    browser.key("/")
    say(browser.value("document.activeElement.id") == "search", "/ goes to the search line")
    browser.type("pool2")
    say(0 < browser.value(shown) < total, "typing leaves the nodes that match")
    say(" of " in browser.value("document.getElementById('count').textContent"), "their number is told")
    browser.key("Enter")
    say(browser.value("document.activeElement.tagName == 'SUMMARY' && document.activeElement.parentElement.open"), "Enter opens the first and goes there")
    browser.key("Space")
    say(not browser.value("document.activeElement.parentElement.open"), "Space closes it")
    browser.key("Enter")
    say(browser.value("document.activeElement.parentElement.open"), "Enter opens it again")
    browser.key("/")
    browser.key("Escape")
    say(browser.value(shown) == total, "Escape shows all nodes again")
    browser.key("Tab")
    say(browser.value("document.activeElement.id") == "open", "Tab goes on to the buttons")
    browser.key("Enter")
    say(browser.value("[...document.querySelectorAll('.node')].every(n => n.open)"), "which open all")
    browser.key("Tab")
    browser.key("Enter")
    say(browser.value("![...document.querySelectorAll('.node')].some(n => n.open)"), "and close all")
    browser.value("document.querySelector('#graph > summary').focus()")
    browser.key("Enter")
    say(not browser.value("document.getElementById('graph').open"), "a part of the page closes by keyboard")
    browser.value("location.hash = '#n1'")
    browser.call("Runtime.evaluate", expression="new Promise(r => setTimeout(r, 50))", awaitPromise=True)
    say(browser.value("document.getElementById('n1').open"), "a link to a node opens it")
    say(not browser.problems(), f"nothing to complain about: {browser.problems()}")


def main(program, testdata, *models):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("skipped: Chromium is not installed (Debian package chromium)")
        return 77
    failures = []

    def say(good, what):
        print(("ok      " if good else "FAILED  ") + what)
        if not good:
            failures.append(what)

    with tempfile.TemporaryDirectory() as folder:
        def report(model, *options):
            page = os.path.join(folder, os.path.basename(model) + ".html")
            subprocess.run([program, "--quiet", "report", os.path.join(testdata, "models", model), *options, "-o", page], check=False, timeout=200)
            return page

        browser = Browser(chromium)
        try:
            tower = report("tower.onnx", "--dim", "N=1", "--dim", "H=20", "--dim", "W=24")
            for page in (tower, report("half.onnx", "-i", "x=" + os.path.join(testdata, "tensors", "half.npy")), report("broken.onnx"), report("names.onnx")):
                print(os.path.basename(page))
                check_page(browser, page, say)
            check_keyboard(browser, tower, say)
            for model in models:
                page = report(os.path.abspath(model), "--runs", "1")
                print(model)
                say(os.path.getsize(page) < 2 << 20, f"the page takes less than 2 MiB: {os.path.getsize(page)} bytes")
                check_page(browser, page, say)
        finally:
            browser.close()
    return 1 if failures else 0


def shots(page, folder):
    os.makedirs(folder, exist_ok=True)
    browser = Browser(shutil.which("chromium"))
    name = os.path.splitext(os.path.basename(page))[0]
    for label, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            browser.open(page, width, scheme, 3000 if len(sys.argv) < 5 else int(sys.argv[4]))
            browser.value("[...document.querySelectorAll('.node')].slice(0, 3).forEach(n => n.open = true)")
            browser.shot(os.path.join(folder, f"{name}-{label}-{scheme}.png"))
    print(browser.problems())
    browser.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--shots"]:
        shots(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main(*sys.argv[1:]))
