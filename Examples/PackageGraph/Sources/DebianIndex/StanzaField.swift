/// The fields of a stanza that this program keeps. The raw values number the places in ``Stanza``.
enum StanzaField: Int, CaseIterable {
    case package, version, architecture, maintainer, section, priority, source, homepage, summary, fileName
    case installedSize, downloadSize, essential, status
    case preDepends, depends, recommends, suggests, enhances, breaks, conflicts, replaces, provides

    /// The field with this name, in any case as Debian's policy allows; nil for one that is not kept.
    init?(name: Span<UInt8>) {
        // Most fields of a stanza are not kept, so the length decides first.
        let candidates: [(StaticString, StanzaField)]
        switch name.count {
        case 4: candidates = Self.names4
        case 6: candidates = Self.names6
        case 7: candidates = Self.names7
        case 8: candidates = Self.names8
        case 9: candidates = Self.names9
        case 10: candidates = Self.names10
        case 11: candidates = Self.names11
        case 12: candidates = Self.names12
        case 14: candidates = Self.names14
        default: return nil
        }
        for (candidate, field) in candidates where Self.equal(name, candidate) {
            self = field
            return
        }
        return nil
    }

    private static let names4: [(StaticString, StanzaField)] = [("size", .downloadSize)]
    private static let names6: [(StaticString, StanzaField)] = [
        ("source", .source), ("status", .status), ("breaks", .breaks),
    ]
    private static let names7: [(StaticString, StanzaField)] = [
        ("package", .package), ("version", .version), ("section", .section), ("depends", .depends),
    ]
    private static let names8: [(StaticString, StanzaField)] = [
        ("priority", .priority), ("homepage", .homepage), ("filename", .fileName), ("suggests", .suggests),
        ("provides", .provides), ("replaces", .replaces), ("enhances", .enhances),
    ]
    private static let names9: [(StaticString, StanzaField)] = [("conflicts", .conflicts), ("essential", .essential)]
    private static let names10: [(StaticString, StanzaField)] = [
        ("maintainer", .maintainer), ("recommends", .recommends),
    ]
    private static let names11: [(StaticString, StanzaField)] = [
        ("description", .summary), ("pre-depends", .preDepends),
    ]
    private static let names12: [(StaticString, StanzaField)] = [("architecture", .architecture)]
    private static let names14: [(StaticString, StanzaField)] = [("installed-size", .installedSize)]

    /// Whether `name` is `lowercase`, which has the same length, but for the case of letters.
    private static func equal(_ name: Span<UInt8>, _ lowercase: StaticString) -> Bool {
        lowercase.withUTF8Buffer { expected in
            for index in name.indices {
                let byte = name[index]
                let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
                if (isUpper ? byte | 0x20 : byte) != expected[index] { return false }
            }
            return true
        }
    }
}
