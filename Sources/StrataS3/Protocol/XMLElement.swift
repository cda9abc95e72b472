/// An element of one of S3's answers, read by a small strict reader.
///
/// Foundation's parser would bring two more shared libraries into the process, and entities, which no answer has.
struct XMLElement: Sendable {
    /// Without its prefix.
    let name: String
    let children: [XMLElement]
    /// The element's own text, references resolved.
    let text: String

    /// The first child with a name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// Reads a document of one root element. O(n).
    ///
    /// Attributes are skipped, comments and processing instructions too. A document type is refused.
    init(parsing bytes: [UInt8]) throws(XMLReader.Failure) {
        var reader = XMLReader(bytes)
        self = try reader.document()
    }

    init(name: String, children: [XMLElement], text: String) {
        self.name = name
        self.children = children
        self.text = text
    }
}
