/// Names that Apple's Foundation has, Linux's lacks, and Strata declares: a file that uses them imports CoreData here.
enum FoundationNames {
    /// Names by themselves. Foundation declares the classes of predicates and expressions on Linux, too, but they
    /// cannot be used.
    static let names: Set<String> = [
        "AutoreleasingUnsafeMutablePointer", "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression",
        "NSFastEnumerationIterator", "NSKeyValueChange", "NSKeyValueObservation", "NSKeyValueObservedChange",
        "NSKeyValueObservingOptions", "NSKeyValueSetMutationKind", "NSSecureUnarchiveFromDataTransformer",
        "NSSelectorFromString", "NSStringFromSelector", "NSUndoManagerGroupIsDiscardableKey", "NSValueTransformerName",
        "Selector", "UndoManager", "ValueTransformer", "autoreleasepool",
    ]

    /// Names that Apple's Foundation has, and modules of their own on Linux, by the module.
    static let parts: [String: Set<String>] = [
        "FoundationNetworking": [
            "CachedURLResponse", "HTTPCookie", "HTTPCookieStorage", "HTTPURLResponse", "NSMutableURLRequest",
            "NSURLRequest", "URLAuthenticationChallenge", "URLCache", "URLCredential", "URLCredentialStorage",
            "URLProtectionSpace", "URLProtocol", "URLProtocolClient", "URLRequest", "URLResponse", "URLSession",
            "URLSessionConfiguration", "URLSessionDataDelegate", "URLSessionDataTask", "URLSessionDelegate",
            "URLSessionDownloadDelegate", "URLSessionDownloadTask", "URLSessionTask", "URLSessionTaskDelegate",
            "URLSessionUploadTask", "URLSessionWebSocketTask",
        ],
        "FoundationXML": ["XMLDocument", "XMLDTD", "XMLElement", "XMLNode", "XMLParser", "XMLParserDelegate"],
    ]

    /// Locks that come with Apple's module os.
    static let locks: Set<String> = [
        "OSAllocatedUnfairLock", "os_unfair_lock", "os_unfair_lock_s", "os_unfair_lock_t", "os_unfair_lock_lock",
        "os_unfair_lock_unlock", "os_unfair_lock_trylock",
    ]

    /// What logs with Apple's module os.
    static let logs: Set<String> = ["Logger", "OSLog", "OSLogType", "os_log", "os_signpost"]

    /// The module that has a name of Apple's Foundation here; nil for what Linux's Foundation has, too.
    static func module(of name: String) -> String? {
        names.contains(name) ? "CoreData" : parts.first { $0.value.contains(name) }?.key
    }

    /// The name behind the dot that follows a word.
    static func member(behind word: SourceWords.Word, _ source: SourceText) -> (text: String, offset: Int)? {
        let dot = source.nextToken(word.offset + word.text.utf8.count)
        guard source.starts(".", at: dot) else { return nil }
        let start = source.nextToken(dot + 1)
        let end = source.endOfToken(start)
        return start < end ? (source.text(start..<end), start) : nil
    }

    /// What Strata adds to classes that Foundation has on Linux, by the class: the first labels of initialisers.
    static let initializers: [String: Set<String>] = [
        "IndexPath": ["item", "row"], "NSPredicate": ["format", "fromMetadataQueryString"], "NSSortDescriptor": ["key"],
    ]

    /// The first name in a file that is one of these, and where.
    ///
    /// - Parameter own: names that the module declares itself.
    static func firstUse(in source: SourceText, except own: Set<String>) -> (name: String, offset: Int)? {
        var words = SourceWords(source)
        while let word = words.next() {
            if let found = qualified(word, source), names.contains(found.name) { return found }
            guard !own.contains(word.text), !word.isMember else { continue }
            if names.contains(word.text) { return (word.text, word.offset) }
            if let labels = initializers[word.text], labels.contains(label(behind: word, source)) {
                return (word.text, word.offset)
            }
        }
        return nil
    }

    /// The first of some names in a file, and where.
    static func firstUse(
        of names: Set<String>, in source: SourceText, except own: Set<String>
    ) -> (name: String, offset: Int)? {
        var words = SourceWords(source)
        while let word = words.next() {
            if let found = qualified(word, source), names.contains(found.name) { return found }
            if names.contains(word.text), !own.contains(word.text), !word.isMember { return (word.text, word.offset) }
        }
        return nil
    }

    /// The name that a word says is Foundation's.
    private static func qualified(_ word: SourceWords.Word, _ source: SourceText) -> (name: String, offset: Int)? {
        guard word.text == "Foundation", !word.isMember else { return nil }
        return member(behind: word, source).map { ($0.text, $0.offset) }
    }

    /// The first label of the call that a word begins, or "".
    private static func label(behind word: SourceWords.Word, _ source: SourceText) -> String {
        let open = source.nextToken(word.offset + word.text.utf8.count)
        guard source.starts("(", at: open) else { return "" }
        let start = source.nextToken(open + 1)
        let end = source.endOfToken(start)
        return source.starts(":", at: source.nextToken(end)) ? source.text(start..<end) : ""
    }
}
