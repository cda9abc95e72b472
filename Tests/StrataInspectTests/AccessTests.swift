import HTTPTypes
import Testing

@testable import StrataInspect

@Suite struct AccessTests {
    private let access = AccessGuard(token: "secret", port: 4711)

    private func decide(
        _ target: String = "/", host: String? = "127.0.0.1:4711", method: HTTPRequest.Method = .get,
        _ fields: KeyValuePairs<String, String> = [:]
    ) throws -> AccessGuard.Decision {
        var request = HTTPRequest(method: method, scheme: nil, authority: host, path: target)
        for (name, value) in fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return access.decide(request, try Query(target))
    }

    private func status(_ decision: AccessGuard.Decision) -> Int {
        switch decision {
        case .allowed: 200
        case .admitted: 303
        case .refused(let status, _): status.code
        }
    }

    @Test(arguments: ["127.0.0.1:4711", "localhost:4711", "[::1]:4711", "LOCALHOST", "127.0.0.1:8080"])
    func namesOfThisMachineAreAnswered(host: String) throws {
        #expect(try decide("/?token=secret", host: host) == .admitted)
    }

    @Test(arguments: [
        nil, "evil.example", "evil.example:4711", "127.0.0.1.evil.example", "localhost.evil.example:4711",
        "127.0.0.1:4711@evil.example", "::1", "", "127.0.0.2",
    ])
    func otherNamesAreRefusedWhateverTheToken(host: String?) throws {
        #expect(status(try decide("/?token=secret", host: host)) == 421)
    }

    @Test func aTokenIsNeeded() throws {
        #expect(status(try decide()) == 401)
        #expect(status(try decide("/?token=secre")) == 401)
        #expect(status(try decide("/?token=secret0")) == 401)
        #expect(status(try decide("/", ["Cookie": "strata-inspect-4712=secret"])) == 401)
        #expect(status(try decide("/", ["Cookie": "xstrata-inspect-4711=secret"])) == 401)
        #expect(status(try decide("/", ["Authorization": "Basic secret"])) == 401)
    }

    @Test func aCookieOrAHeaderIsEnough() throws {
        #expect(try decide("/", ["Cookie": "a=b; strata-inspect-4711=secret"]) == .allowed)
        #expect(try decide("/", ["Cookie": "a=b", "Cookie": "strata-inspect-4711=secret"]) == .allowed)
        #expect(try decide("/", ["Authorization": "Bearer secret"]) == .allowed)
    }

    /// Another page on this machine is another origin of the same site: cookies go with its requests.
    @Test(arguments: ["cross-site", "same-site"])
    func requestsOfOtherPagesAreRefused(site: String) throws {
        let cookie = "strata-inspect-4711=secret"
        #expect(
            status(try decide("/", ["Cookie": cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"])) == 403)
        #expect(
            status(
                try decide(
                    "/",
                    [
                        "Cookie": cookie, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate",
                        "Sec-Fetch-Dest": "iframe",
                    ])
            ) == 403)
        #expect(status(try decide("/", ["Cookie": cookie, "Origin": "http://localhost:3000"])) == 403)
        #expect(
            try decide(
                "/?token=secret",
                ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]) == .admitted)
        #expect(
            try decide("/", ["Cookie": cookie, "Origin": "http://127.0.0.1:4711", "Sec-Fetch-Site": "same-origin"])
                == .allowed)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .options, .patch])
    func nothingIsChanged(method: HTTPRequest.Method) throws {
        #expect(status(try decide("/?token=secret", method: method)) == 405)
    }

    @Test func tokensDiffer() {
        let tokens = Set((0..<100).map { _ in AccessGuard.makeToken() })
        #expect(tokens.count == 100)
        #expect(tokens.allSatisfy { $0.count == 32 })
    }
}

@Suite struct QueryTests {
    @Test func formsAreTheEndsOfPaths() throws {
        #expect(try Query("/objects.json?entity=A").format == .json)
        #expect(try Query("/objects.json?entity=A").path == "/objects")
        #expect(try Query("/.csv").path == "/")
        #expect(try Query("/history.events").format == .events)
        #expect(try Query("/objects?entity=a.json").format == .html)
    }

    @Test func parametersAreDecoded() throws {
        let query = try Query("/objects?entity=%3Cscript%3E&where=a+%2B%20b&empty=&at")
        #expect(query["entity"] == "<script>")
        #expect(query["where"] == "a + b")
        #expect(query["empty"] == nil)
        #expect(query["at"] == nil)
    }

    @Test(arguments: ["/?a=%", "/?a=%2", "/?a=%zz", "/?a=%FF", "/%C3%28", "/?a=%C0%80"])
    func whatIsNotEncodedRightIsSaid(target: String) {
        #expect(throws: InspectError.self) { try Query(target) }
    }

    @Test(arguments: ["0", "-1", "1001", "x", "1e3", "99999999999999999999"])
    func limitsAreNumbersInBounds(text: String) throws {
        let query = try Query("/?limit=\(text)")
        #expect(throws: InspectError.self) { try query.limit() }
    }

    @Test func linksKeepWhatWasAskedForWithoutTheToken() throws {
        let query = try Query("/objects?entity=A%26B&token=secret&page=x")
        #expect(query.link(.json, setting: ["page": nil]).text == "/objects.json?entity=A%26B")
        #expect(query.link(setting: ["sort": "-a b"]).text == "/objects?entity=A%26B&page=x&sort=-a%20b")
    }

    /// The browser is sent to such a link when it has been let in.
    @Test func linksStayOnThisServer() throws {
        #expect(try Query("//evil.example/?token=secret").link().text == "/evil.example/")
        #expect(try Query("/%2F%2Fevil.example").link().text == "/evil.example")
        #expect(try Query("/a%0D%0ASet-Cookie:x").link().text == "/a%0D%0ASet-Cookie%3Ax")
        #expect(try Query("/%5Cevil.example").link().text == "/%5Cevil.example")
        #expect(try Query("http://evil.example/?token=secret").link().text == "/http%3A//evil.example/")
    }
}

@Suite struct MarkupTests {
    @Test(arguments: [
        ("<script>", "&lt;script&gt;"), ("\" onload='x'", "&quot; onload=&#39;x&#39;"), ("a&amp;", "a&amp;amp;"),
        ("a\0b\u{1}", "a␀b␁"), ("\u{7F}\u{85}\u{FFFF}\u{FFFE}", "␡\u{FFFD}\u{FFFD}\u{FFFD}"), ("ä\n\t", "ä\n\t"),
        ("<\u{301}script>", "&lt;\u{301}script&gt;"),
    ])
    func whatIsPutInIsEscaped(text: String, expected: String) {
        let markup: Markup = "<b>\(text)</b>"
        #expect(markup.text == "<b>\(expected)</b>")
    }

    @Test func markupIsNotEscapedTwice() {
        let inner: Markup = "<i>\("<")</i>"
        let outer: Markup = "<b>\(inner)\([inner, inner])\(3)\(Double.nan)</b>"
        #expect(outer.text == "<b><i>&lt;</i><i>&lt;</i><i>&lt;</i>30</b>")
    }

    @Test func textsAreCutByScalars() {
        #expect(CellMarkup.cut("abc", 3) == "abc")
        #expect(CellMarkup.cut("abcd", 3) == "abc…")
        #expect(CellMarkup.cut("e" + String(repeating: "\u{301}", count: 50_000), 10).unicodeScalars.count == 11)
    }

    @Test func onlyImagesThatRunNothingAreImages() {
        #expect(ValueAnswer.imageType(Stores.png) == "image/png")
        #expect(Stores.datas.map(ValueAnswer.imageType).prefix(3).allSatisfy { $0 == nil })
    }
}
