/// A text as a store knows it: equal to others of the same scalars only.
///
/// Swift holds "é" equal to "e" with a combining accent. A store sorts and compares by scalars, so that other texts
/// may lie between the two: what is grouped, made distinct or looked for in its order needs its equality.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// A value as others are compared with it: a text by its scalars; nil for one that cannot be compared.
    package static func comparable(_ value: Any?) -> AnyHashable? {
        if let text = value as? String { return ExactText(text) }
        return value as? AnyHashable
    }

    /// - Complexity: O(n).
    package static func == (left: ExactText, right: ExactText) -> Bool {
        StringMatching.order(left.text, right.text) == 0
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether a store holds both for the same text.
    /// - Complexity: O(n).
    package func isExactly(_ other: String) -> Bool { StringMatching.order(self, other) == 0 }
}
