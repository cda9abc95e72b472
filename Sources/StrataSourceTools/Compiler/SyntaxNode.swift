import Foundation

/// A node of what the compiler prints as JSON.
struct SyntaxNode {
    let fields: [String: Any]

    init(_ fields: [String: Any]) {
        self.fields = fields
    }

    /// The tree of one file.
    init(json: Data) throws {
        guard let fields = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw SwiftFrontend.Failure(description: "the compiler printed something else than a tree")
        }
        self.fields = fields
    }

    var kind: String { fields["_kind"] as? String ?? "" }
    var isImplicit: Bool { fields["implicit"] as? Bool ?? false }
    /// The declaration's unique name: `s:` and what follows `$s` in symbols.
    var usr: String { fields["usr"] as? String ?? "" }
    var interfaceType: String { fields["interface_type"] as? String ?? "" }
    /// The access level that the declaration states or inherits from its extension.
    var access: String { fields["access"] as? String ?? "internal" }

    subscript(_ key: String) -> SyntaxNode? { (fields[key] as? [String: Any]).map { SyntaxNode($0) } }
    func list(_ key: String) -> [SyntaxNode] { (fields[key] as? [[String: Any]] ?? []).map { SyntaxNode($0) } }
    func text(_ key: String) -> String? { fields[key] as? String }

    /// A declaration's name without argument labels.
    var name: String { self["name"]?["base_name"]?.text("name") ?? "" }
    /// A function's argument labels, "" for none.
    var labels: [String] { self["name"]?.fields["args"] as? [String] ?? [] }
    var attributes: [SyntaxNode] { list("attrs") }
    func has(_ attribute: String) -> Bool { attributes.contains { $0.kind == attribute } }

    /// The offsets in bytes of the first and of the last token.
    var range: (start: Int, end: Int)? {
        guard let range = fields["range"] as? [String: Any], let start = range["start"] as? Int,
            let end = range["end"] as? Int
        else { return nil }
        return (start, end)
    }

    /// The node and everything below it, in the order of the text within each list.
    func walk(_ visit: (SyntaxNode) -> Void) {
        visit(self)
        for value in fields.values {
            if let child = value as? [String: Any] { SyntaxNode(child).walk(visit) }
            for child in value as? [[String: Any]] ?? [] { SyntaxNode(child).walk(visit) }
        }
    }
}
