/// A base assembly, which has components, or a complex one, which has none.
public struct OO7Assembly: Sendable {
    public let id: Int64
    public let type: String
    public let buildDate: Int64
    /// Nil for the root.
    public let superAssembly: Int64?
    public let components: [Int64]

    public var isBase: Bool { !components.isEmpty }
}

/// A composite part. Its document has its number; its first atomic part is its root.
public struct OO7Composite: Sendable {
    public let id: Int64
    public let type: String
    public let buildDate: Int64
    public let title: String
    public let text: String
    public let parts: [OO7Part]
}

/// An atomic part with the connections that leave it.
public struct OO7Part: Sendable {
    public let id: Int64
    public let type: String
    public let buildDate: Int64
    public let x: Int64
    public let y: Int64
    public let document: Int64
    public let connections: [OO7Connection]
}

/// A connection from an atomic part to another of the same composite part, or to itself.
public struct OO7Connection: Sendable {
    public let id: Int64
    public let type: String
    public let length: Int64
    public let target: Int64
}
