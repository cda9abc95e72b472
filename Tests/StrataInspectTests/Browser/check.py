#!/usr/bin/env python3
"""Uses the page of `strata inspect` as people do: with the keyboard, dark and light, on a phone.

    check.py PROGRAM library URL FOLDER SIGNAL    the store of authors and books; screenshots go to FOLDER
    check.py PROGRAM hostile URL                  the store whose names and values are markup

When the page is to see something saved, it makes the file SIGNAL, and the test saves.
"""

import http.client
import http.server
import json
import sys
import threading
import urllib.parse

from devtools import Browser


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def encoded(text):
    return urllib.parse.quote(text, safe="")


class Check:
    def __init__(self, browser, url):
        self.browser = browser
        self.url = url
        self.base = url.split("/?token=")[0]
        self.done = 0

    def section(self, name):
        problems = self.browser.problems()
        expect(not problems, f"before {name} the browser complained: {problems}")
        self.done += 1
        print(f"browser: {name}", flush=True)

    def open(self, path):
        self.browser.open(self.base + path)

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def names(self, where):
        unnamed = self.browser.unnamed()
        expect(not unnamed, f"{where}: a screen reader has no name for {unnamed}")
        expect(self.count("h1") == 1, f"{where}: one heading of the page")
        expect(self.browser.run("document.documentElement.lang") == "en", f"{where}: the language")

    # What is let in.

    def entry(self):
        browser = self.browser
        self.section("without the token nothing is shown")
        browser.open(self.base + "/")
        expect("token" in self.text("body") and self.count("a") == 0, "a page without the token")
        browser.events = []
        self.section("nor by requests that no browser would send")
        address = urllib.parse.urlsplit(self.base).netloc
        for target, host in (("/%zz", address), ("/?a=%FF", address), ("/", "evil.example"), ("/%zz", "evil.example")):
            connection = http.client.HTTPConnection(address, timeout=20)
            connection.request("GET", target, headers={"Host": host})
            answer = connection.getresponse()
            body = answer.read()
            expect(answer.status in (400, 421) and b"store" not in body and b"<" not in body,
                   f"{target} of {host} got {answer.status}: {body[:200]}")
            connection.close()
        self.section("the URL with the token leads to the page, and the token goes from it")
        browser.open(self.url)
        expect(browser.run("location.href") == self.base + "/", "the address is without the token")
        expect(browser.run("document.cookie") == "", "scripts do not see the cookie")
        cookie = browser.call("Network.getCookies")["cookies"][0]
        expect(cookie["httpOnly"] and cookie["sameSite"] == "Strict", f"the cookie: {cookie}")
        self.section("no script runs but the page's own")
        browser.run("(() => { const s = document.createElement('script'); s.textContent = 'window.injected = 1';"
                    "document.body.append(s); const d = document.createElement('div');"
                    "d.innerHTML = '<img src=/nothing onerror=\"window.injected = 2\">'; document.body.append(d); })()")
        browser.run("new Promise(done => setTimeout(done, 300))")
        expect(browser.run("window.injected") is None, "a script that was put in ran")
        browser.events = []

    def other_origin(self):
        """Another page on this machine, which the browser sends the same cookies for."""
        base, browser = self.base, self.browser
        page = f"""<!DOCTYPE html><title>other</title><script>
            window.results = Promise.all([
                fetch('{base}/.json', {{credentials: 'include'}}).then(() => 'read', () => 'refused'),
                fetch('{base}/.json', {{credentials: 'include', mode: 'no-cors'}}).then(() => 'read', () => 'refused'),
                new Promise(done => {{ const i = new Image(); i.onload = () => done('read');
                    i.onerror = () => done('refused'); i.src = '{base}/static/icon.svg'; }}),
                new Promise(done => {{ const s = document.createElement('script'); s.onload = () => done('read');
                    s.onerror = () => done('refused'); s.src = '{base}/static/inspect.js'; document.head.append(s); }}),
            ]);
            </script><iframe src="{base}/"></iframe>""".encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.section("another page of this machine reads nothing, and frames nothing")
        for host in ("127.0.0.1", "localhost"):
            browser.open(f"http://{host}:{server.server_address[1]}/")
            results = browser.run("window.results")
            expect(results == ["refused"] * 4, f"another page on {host} got {results}")
            shown = browser.framed()
            expect(len(shown) == 1 and shown[0].startswith("chrome-error:"), f"framed by another page: {shown}")
        browser.events = []
        server.shutdown()

    # A library.

    def objects(self):
        browser = self.browser
        self.section("entities lead to their objects")
        self.open("/")
        self.names("the entities")
        expect(self.count("#results tbody tr") == 4, "four entities")
        browser.wait("sizes are measured", "document.querySelectorAll('#results .bar').length > 0 || (location.reload(), false)")
        browser.follow(lambda: browser.run("[...document.querySelectorAll('#results a')].find(a => a.innerText === 'Book').click()"))
        self.names("the objects")
        expect(self.count("#results tbody tr") == 100, "a page of objects")
        self.section("a heading sorts, and once more the other way round")
        browser.follow(lambda: browser.run("[...document.querySelectorAll('thead a')].find(a => a.innerText === 'pages').click()"))
        expect(self.count("th[aria-sort=ascending]") == 1, "sorted upwards")
        browser.follow(lambda: browser.click("th[aria-sort] a"))
        expect(self.count("th[aria-sort=descending]") == 1, "sorted downwards")
        expect("1002" in self.text("#results tbody tr"), "the longest book first")
        self.section("keys: next page, previous page, rows, opening")
        first = self.text("#results tbody tr")
        browser.follow(lambda: browser.key("n"))
        expect(self.text("#results tbody tr") != first, "the next page")
        browser.follow(lambda: browser.key("p"))
        expect(self.text("#results tbody tr") == first, "the page before")
        for letter in "jjk":
            browser.key(letter)
        expect(browser.run("document.activeElement === document.querySelector('#results tbody tr')"), "the first row")
        browser.follow(lambda: browser.key("Enter"))
        expect(browser.run("location.pathname") == "/object", "an object")
        self.names("an object")
        self.section("relationships are followed in both directions")
        browser.follow(lambda: browser.run("[...document.querySelectorAll('#results a')].find(a => a.innerText.startsWith('Author/')).click()"))
        expect("Author/" in self.text("h1"), "the author")
        browser.follow(lambda: browser.run("[...document.querySelectorAll('#results a')].find(a => a.innerText === 'Members').click()"))
        expect("objects; 100 on this page" in self.text("caption"), "the author's books")
        self.section("keys lead to other pages and tell what they are")
        browser.key("?")
        expect(browser.run("document.getElementById('keys').open"), "the keys")
        browser.key("Escape")
        browser.key("g")
        browser.follow(lambda: browser.key("m"))
        expect(self.count(".model .entity") == 4, "the model")
        self.names("the model")

    def filter(self):
        browser = self.browser
        self.section("names are completed while a predicate is written")
        self.open("/objects?entity=Book")
        browser.key("/")
        expect(browser.run("document.activeElement.name") == "where", "the first field")
        browser.type("author.na")
        browser.wait("names are offered", "!document.querySelector('.names').hidden")
        expect(self.text(".names li") == "author.name", "the name of the author")
        browser.key("Tab")
        expect(browser.run("document.activeElement.value") == "author.name", "the name is taken")
        browser.type(" BEGINS")
        browser.wait("operators are offered", "document.querySelector('.names li')?.innerText === 'BEGINSWITH'")
        browser.key("Escape")
        browser.run("document.activeElement.value = \"author.name == 'Lem' AND pages > 590\"")
        browser.follow(lambda: browser.key("Enter"))
        expect(self.count("#results tbody tr") == 3, f"filtered: {self.text('#results')}")
        expect("sort=" not in browser.run("location.search"), "empty fields are not in the URL")
        self.section("what is wrong is said with its place")
        self.open("/objects?entity=Book&where=" + encoded("pages > AND"))
        expect("at position 8" in self.text("[role=alert]"), self.text("[role=alert]"))
        browser.events = []

    def image(self):
        browser = self.browser
        self.section("images are shown, long texts by their beginning")
        self.open("/objects?entity=Book&where=" + encoded("title == 'With a cover'"))
        browser.follow(lambda: browser.click("#results tbody a"))
        browser.wait("the image is there", "document.querySelector('img.image').naturalWidth === 2")
        expect(len(self.text("pre.text")) < 5000, "a long text")
        self.names("an object with an image")

    def query(self):
        browser = self.browser
        self.section("a query has a plan, a table and a chart")
        self.open("/query")
        self.names("the empty query")
        browser.run("""document.querySelector('[name=entity]').value = 'Book';
            document.querySelector('[name=group]').value = 'author.name';
            document.querySelector('[name=select]').value = 'author.name, count(*) AS books, avg(pages)'""")
        browser.follow(lambda: browser.click("main form button"))
        expect(self.count("#results tbody tr") == 4, "four authors")
        expect(self.count("ul.plan") >= 2 and "ms" in self.text("ul.plan"), "the plan")
        browser.run("document.querySelector('[name=chart]').value = 'books'")
        browser.follow(lambda: browser.click("main form button"))
        expect(self.count(".chart rect") == 4, "the chart")
        self.names("the query")

    def past(self):
        browser = self.browser
        self.section("at another time")
        self.open("/objects?entity=Book&where=" + encoded("title == 'Title 3'"))
        expect(self.count("#results tbody tr") == 0, "it is gone")
        browser.run("document.querySelector('[name=at]').value = '1'")
        browser.follow(lambda: browser.click("main form button"))
        expect(self.count("#results tbody tr") == 1 and self.count(".past") == 1, "it was there")
        browser.follow(lambda: browser.click("#results tbody a"))
        expect("at=1" in browser.run("location.search"), "links stay in the past")
        self.section("what has changed between two points")
        self.open("/history")
        browser.follow(lambda: browser.run("[...document.querySelectorAll('tbody th a')].find(a => a.innerText === '5').click()"))
        expect(self.count("tr.delete") > 0, "what was deleted")
        self.names("the changes")

    def link(self, text, within="main"):
        """Follows a link by its words."""
        self.browser.follow(lambda: self.browser.run(
            f"[...document.querySelectorAll('{within} a')].find(a => a.innerText === {json.dumps(text)}).click()"))

    def choices(self):
        browser = self.browser
        self.section("arrow keys and the mouse choose among the names that are offered")
        self.open("/objects?entity=Book")
        browser.key("/")
        browser.type("t")
        browser.wait("names are offered", "!document.querySelector('.names').hidden")
        names = browser.run("[...document.querySelectorAll('.names li')].map(item => item.innerText)")
        expect(set(names) >= {"title", "text", "tags", "TRUE"}, f"{names}")
        chosen = "[...document.querySelectorAll('.names li')].findIndex(item => item.getAttribute('aria-selected') === 'true')"
        active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).innerText"
        expect(browser.run(chosen) == 0, "the first is chosen")
        browser.key("ArrowDown")
        expect(browser.run(chosen) == 1 and browser.run(active) == names[1], "the second")
        browser.key("ArrowUp")
        browser.key("ArrowUp")
        expect(browser.run(chosen) == len(names) - 1 and browser.run(active) == names[-1], "the last after the first")
        browser.key("ArrowDown")
        browser.key("ArrowDown")
        browser.key("Tab")
        expect(browser.run("document.activeElement.value") == names[1], "the second is taken")
        browser.type(" t")
        browser.wait("names are offered again", "!document.querySelector('.names').hidden")
        browser.press(".names li:nth-child(3)")
        expect(browser.run("document.activeElement.value") == f"{names[1]} {names[2]}", "the third is taken")
        expect(browser.run("document.querySelector('.names').hidden"), "nothing is offered any more")

    def letters(self):
        browser = self.browser
        self.section("each letter behind g leads to its page")
        self.open("/model")
        for letter, path in (("q", "/query"), ("h", "/history"), ("c", "/changes"), ("l", "/log"), ("e", "/")):
            browser.key("g")
            browser.follow(lambda: browser.key(letter))
            expect(browser.run("location.pathname") == path, f"g {letter} leads to {browser.run('location.pathname')}")
        self.section("the first link leads over the navigation")
        browser.key("Tab")
        expect(browser.run("document.activeElement.className") == "skip", "the first key leads to the link")
        browser.key("Enter")
        browser.wait("it leads to the content", "location.hash === '#main' && document.activeElement.id === 'main'")
        self.section("each page is there for programs")
        self.open("/objects?entity=Author")
        forms = browser.run("Promise.all([...document.querySelectorAll('.forms a')].map(async a => "
                            "[a.innerText, await (await fetch(a.href)).text()]))")
        expect([name for name, _ in forms] == ["JSON", "CSV"], f"{forms}")
        expect(len(json.loads(forms[0][1])["rows"]) == 4, forms[0][1])
        expect(forms[1][1].startswith("uri,") and len(forms[1][1].splitlines()) == 5, forms[1][1])

    def moments(self):
        browser = self.browser
        self.section("another time, and back to now")
        self.open("/")
        now = self.text("caption")
        browser.run("document.querySelector('[name=at]').value = '1'")
        browser.follow(lambda: browser.click("main form button"))
        expect(self.text("caption") == "608 objects" != now and self.count(".past") == 1, self.text("caption"))
        self.link("Now")
        expect(self.text("caption") == now and self.count(".past") == 0, self.text("caption"))
        expect(browser.run("location.search") == "", "no time is in the URL")

    def forms(self):
        browser = self.browser

        def fill(**values):
            for name, value in values.items():
                browser.run(f"document.querySelector('main [name={name}]').value = {json.dumps(value)}")
            browser.follow(lambda: browser.click("main form button"))

        numbers = "[...document.querySelectorAll('#results tbody th')].map(cell => cell.innerText)"
        self.section("the history page by page")
        self.open("/history?limit=2")
        expect(browser.run(numbers) == ["5", "4"], "the newest")
        self.link("Older")
        expect(browser.run(numbers) == ["3", "2"], "older ones")
        self.link("Newest")
        expect(browser.run(numbers) == ["5", "4"], "the newest again")
        self.section("the history of an author and of an entity")
        fill(author="desk", entity="Book", limit="")
        expect(browser.run(numbers) == ["4", "2"], f"what desk has done to books: {browser.run(numbers)}")
        self.open("/objects?entity=AudioBook&limit=1")
        browser.follow(lambda: browser.click("#results tbody a"))
        self.link("History of AudioBook")
        expect(browser.run("document.querySelector('[name=entity]').value") == "AudioBook", "its entity is chosen")
        expect(browser.run(numbers) == ["1"], "what has changed audio books")
        self.section("changes page by page")
        self.open("/changes")
        fill(**{"from": "0", "to": "1", "entity": "Author", "limit": "3"})
        expect(self.text("caption") == "3 objects on this page", self.text("caption"))
        first = self.text("#results tbody")
        self.link("Next")
        expect(self.text("caption") == "1 objects on this page", self.text("caption"))
        expect(self.text("#results tbody") not in first and self.count("a[rel=next]") == 0, "the last page")

    def live(self, signal):
        browser = self.browser
        self.section("the history and the log are live")
        self.open("/history")
        self.names("the history")
        expect(self.count(".timeline rect") == 5, "the time line")
        browser.wait("it is live", "document.getElementById('live').innerText === 'Live'")
        rows = self.count("#results tbody tr")
        open(signal, "w").close()
        browser.wait("what is saved appears", f"document.querySelectorAll('#results tbody tr').length > {rows}")
        expect("browser test" in self.text("#results tbody tr"), self.text("#results tbody tr"))
        self.open("/log")
        browser.wait("rates are drawn", "document.querySelectorAll('#rates-charts polyline').length === 3")
        browser.wait("they go on", "document.querySelector('#rates-charts polyline').points.length > 2")
        expect(self.count(".segments rect") > 1, "the segments")
        self.names("the log")
        self.section("the program tells its rates and its slowest requests")
        self.open("/")
        browser.key("g")
        browser.follow(lambda: browser.key("a"))
        expect(browser.run("location.pathname") == "/activity", "the key leads to the activity")
        browser.wait("rates of the program are drawn", "document.querySelectorAll('#rates-charts polyline').length === 9")
        browser.wait("they go on", "document.querySelectorAll('#rates-charts polyline')[3].points.length > 1")
        expect("Told by library-service" in self.text("#program"), self.text("#program"))
        row = self.text("#results tbody tr")
        expect("fetch Book WHERE title CONTAINS ?" in row and "250" in row, row)
        browser.run("document.querySelector('#results tbody tr').focus()")
        calls = browser.run("document.querySelector('#results tbody tr').cells[7].textContent")
        browser.wait("the table goes on", f"document.querySelector('#results tbody tr').cells[7].textContent !== '{calls}'")
        expect(browser.run("document.activeElement.matches('#results tbody tr')"), "the row is still the one in focus")
        self.names("the activity")

    def looks(self, folder):
        browser = self.browser
        pages = {
            "entities": "/", "objects": "/objects?entity=Book&sort=-pages&limit=20",
            "query": "/query?entity=Book&group=author.name&chart=books&sort=-books&select="
            + encoded("author.name, count(*) AS books, avg(pages)"),
            "history": "/history", "model": "/model", "log": "/log", "activity": "/activity",
        }
        self.section("dark and light")
        colors = {}
        for look in ("light", "dark"):
            browser.look(look)
            browser.size(1000, 620)
            for name, path in pages.items():
                self.open(path)
                if name == "activity":
                    browser.wait("the program's rates have a line",
                                 "document.querySelectorAll('#rates-charts polyline')[3]?.points.length > 4")
                if name == "log":
                    browser.wait("rates are drawn", "document.querySelector('#rates-charts polyline')?.points.length > 1")
                size = browser.screenshot(f"{folder}/{name}-{look}.png")
                expect(5_000 < size < 150_000, f"the screenshot of {name} has {size} bytes")
            colors[look] = browser.run("getComputedStyle(document.body).backgroundColor")
        expect(colors["light"] == "rgb(255, 255, 255)" and colors["dark"] != colors["light"], f"{colors}")
        browser.click("#look")
        expect(browser.run("getComputedStyle(document.body).backgroundColor") == colors["light"], "the button")
        self.open("/")
        expect(browser.run("getComputedStyle(document.body).backgroundColor") == colors["light"], "it is remembered")
        browser.click("#look")
        self.section("on a narrow screen nothing is wider than the screen")
        browser.size(360, 640)
        for name, path in pages.items():
            self.open(path)
            width = browser.run("document.documentElement.scrollWidth")
            expect(width <= 360, f"{name} is {width} wide")
        browser.size(1000, 620)

    # A hostile store.

    def hostile(self):
        browser = self.browser
        self.section("names and values that are markup stay text")
        names = [row["entity"] for row in json.loads(browser.run("fetch('/.json').then(a => a.text())"))["rows"]]
        paths = ["/", "/model", "/log", "/activity", "/history", "/changes?from=0", "/query", "/history?author=%3Cimg%20src%3Dx%3E"]
        for name in names:
            paths.append(f"/objects?entity={encoded(name)}")
            paths.append(f"/query?entity={encoded(name)}&chart=uri")
            rows = json.loads(browser.run(
                f"fetch('/objects.json?limit=1000&entity={encoded(name)}').then(a => a.text())"))["rows"]
            for row in rows:
                paths.append("/object?id=" + encoded("/".join(row["uri"].split("/")[-2:])))
        for path in paths:
            self.open(path)
            expect(browser.run("window.hacked") is None, f"{path} ran a script of the store")
            expect(self.count("script") == 1 and self.count("svg [onload], [onerror], [onload]") == 0, f"{path} has markup")
            expect(self.count("header nav a") == 7, f"{path} is a whole page")
            links = browser.run("[...document.querySelectorAll('a, img')].map("
                                "a => new URL(a.getAttribute('href') ?? a.getAttribute('src'), location.href).href)")
            expect(all(link.startswith(self.base + "/") for link in links), f"{path} leads elsewhere: {links}")
        self.section("completion offers names as text")
        self.open(f"/objects?entity={encoded(names[-1])}")
        browser.key("/")
        browser.type("n")
        browser.wait("names are offered", "!document.querySelector('.names').hidden")
        expect(self.count(".names li") > 0 and self.count(".names li *") == 0, "names are text")
        browser.events = [event for event in browser.events if event["method"] != "Log.entryAdded"
                          or "400" not in event["params"]["entry"]["text"]]


def main():
    program, store, url = sys.argv[1:4]
    browser = Browser(program)
    try:
        check = Check(browser, url)
        check.entry()
        if store == "library":
            folder, signal = sys.argv[4:6]
            check.other_origin()
            browser.open(url)
            check.objects()
            check.filter()
            check.image()
            check.query()
            check.choices()
            check.letters()
            check.past()
            check.moments()
            check.forms()
            check.live(signal)
            check.looks(folder)
        else:
            check.hostile()
        check.section("done")
    finally:
        browser.close()


main()
