/// A page of the results of a request, and where the pages beside it begin.
///
/// `NSManagedObjectContext.page(_:limit:at:)` returns one of managed objects, which belong to their context.
/// ``map(_:)`` makes of it one of values, for the answer of a service:
///
/// ```swift
/// let page = try await store.withContext(.reading) { context in
///     try context.page(request, limit: 20, at: cursor).map(BookAnswer.init)
/// }
/// ```
public struct StrataPage<Element> {
    /// The results, in the order of the request, in whichever direction the pages are gone through.
    public var elements: [Element]
    /// Leads to the page that follows; nil when there was nothing behind this one. What is inserted later may be there.
    public var next: StrataPageCursor?
    /// Leads to the page before; nil when there was nothing before this one. On a page that ``next`` has led to it is
    /// never nil: whether anything is left before it is not looked up.
    public var previous: StrataPageCursor?

    /// A page of known parts.
    public init(elements: [Element], next: StrataPageCursor? = nil, previous: StrataPageCursor? = nil) {
        self.elements = elements
        self.next = next
        self.previous = previous
    }

    /// The page with something made of each element.
    ///
    /// - Throws: what the closure throws.
    public func map<Mapped>(_ transform: (Element) throws -> Mapped) rethrows -> StrataPage<Mapped> {
        StrataPage<Mapped>(elements: try elements.map(transform), next: next, previous: previous)
    }
}

extension StrataPage: Sendable where Element: Sendable {}
extension StrataPage: Equatable where Element: Equatable {}
extension StrataPage: Encodable where Element: Encodable {}
extension StrataPage: Decodable where Element: Decodable {}
