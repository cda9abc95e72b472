import Foundation
import FoundationXML
import StrataModelFile

/// An element of a model file, with what is in it.
struct ModelElement {
    var name: String
    var attributes: [String: String]
    var line: Int
    var children: [ModelElement] = []
    /// All text directly in the element.
    var text = ""

    var hasText: Bool { text.contains { !$0.isWhitespace } }
}

/// Reads XML into elements. Files from anywhere are safe to try: documents with a document type, and so with entities
/// to expand, are refused, and so are other encodings than UTF-8, in which one could hide.
enum ModelElementReader {
    static let maximumByteCount = 64 << 20
    static let maximumDepth = 16

    /// - Parameter allowsDocumentType: whether the file may name a document type elsewhere, which is not looked at. One
    ///   that is declared in the file itself is refused in any case.
    /// - Throws: ``ModelFileError`` with `damaged`, which names the line.
    static func read(_ data: Data, allowsDocumentType: Bool = false) throws -> ModelElement {
        guard data.count <= maximumByteCount else {
            throw ModelFileError(.damaged, "\(data.count) bytes are too many for a model")
        }
        let data = allowsDocumentType ? withoutDocumentType(data) : data
        try check(data)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let builder = ModelElementBuilder()
        parser.delegate = builder
        let isComplete = parser.parse()
        if let failure = builder.failure { throw failure }
        guard isComplete, !builder.hasErrors, let root = builder.root else {
            throw ModelFileError(.damaged, "line \(max(1, parser.lineNumber)): this is no well-formed XML")
        }
        return root
    }

    /// The file with spaces in the place of "<!DOCTYPE name SYSTEM ...>".
    private static func withoutDocumentType(_ data: Data) -> Data {
        guard let start = data.range(of: Data("<!DOCTYPE".utf8)),
            let end = data[start.upperBound...].firstIndex(of: UInt8(ascii: ">")),
            !data[start.upperBound..<end].contains(UInt8(ascii: "["))
        else { return data }
        var plain = data
        for offset in start.lowerBound...end where plain[offset] != UInt8(ascii: "\n") {
            plain[offset] = UInt8(ascii: " ")
        }
        return plain
    }

    private static func check(_ data: Data) throws {
        guard !data.isEmpty, String(validating: data, as: UTF8.self) != nil, !data.contains(0) else {
            throw ModelFileError(.damaged, "the file is no UTF-8 text")
        }
        guard data.range(of: Data("<!DOCTYPE".utf8)) == nil, data.range(of: Data("<!ENTITY".utf8)) == nil else {
            throw ModelFileError(.damaged, "a model has no document type and no entities")
        }
        let start = String(decoding: data.prefix(256), as: UTF8.self).drop { $0 == "\u{feff}" }
        guard start.hasPrefix("<?xml"), let end = start.range(of: "?>") else { return }
        let declaration = start[..<end.lowerBound].lowercased()
        guard !declaration.contains("encoding") || declaration.contains("utf-8") else {
            throw ModelFileError(.damaged, "the file has another encoding than UTF-8")
        }
    }
}

private final class ModelElementBuilder: NSObject, XMLParserDelegate {
    private(set) var root: ModelElement?
    private(set) var failure: ModelFileError?
    /// The parser says of a second root that it is an error, and then that it was done.
    private(set) var hasErrors = false
    private var open: [ModelElement] = []

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName qName: String?, attributes attributeDict: [String: String]
    ) {
        guard open.count < ModelElementReader.maximumDepth else {
            failure = ModelFileError(
                .damaged, "line \(parser.lineNumber): elements are nested over \(ModelElementReader.maximumDepth) deep")
            parser.abortParsing()
            return
        }
        open.append(ModelElement(name: elementName, attributes: attributeDict, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        hasErrors = true
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }
}
