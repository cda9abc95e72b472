import Foundation
import FoundationXML

/// An XML file as it stands, read without anything of Strata's.
final class CorpusTree: NSObject, XMLParserDelegate {
    let name: String
    let attributes: [String: String]
    private(set) var children: [CorpusTree] = []
    private var open: [CorpusTree] = []

    private init(_ name: String, _ attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    /// The root element of a file; nil if it is not XML.
    static func root(of data: Data) -> CorpusTree? {
        let document = CorpusTree("", [:])
        let parser = XMLParser(data: data)
        parser.delegate = document
        return parser.parse() ? document.children.first : nil
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        let child = CorpusTree(name, attributes)
        (open.last ?? self).children.append(child)
        open.append(child)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
    }

    subscript(_ attribute: String) -> String? { attributes[attribute] }

    func all(_ name: String) -> [CorpusTree] { children.filter { $0.name == name } }

    func says(_ attribute: String) -> Bool { attributes[attribute] == "YES" }

    /// What Xcode takes an attribute for that says what is understood: then it need not be there.
    private var telling: [String: String] {
        var telling = attributes
        if ["", "NSManagedObject"].contains(self["representedClassName"]) { telling["representedClassName"] = nil }
        if name == "fetchRequest" {
            for flag in [
                "includePropertyValues", "includeSubentities", "includesPendingChanges", "returnObjectsAsFaults",
            ]
            where says(flag) {
                telling[flag] = nil
            }
        }
        if self["attributeType"] == "Double", let value = Double(self["defaultValueString"] ?? "") {
            telling["defaultValueString"] = "\(value)"
        }
        return telling
    }

    /// Every element that says something, with the names of those around it, in whatever order.
    func lines(in path: String = "") -> [String] {
        if attributes.isEmpty, children.isEmpty { return [] }
        let own = telling.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let place = path + "/" + name + (self["name"].map { ":" + $0 } ?? "")
        return [place + own] + children.flatMap { $0.lines(in: place) }
    }
}
