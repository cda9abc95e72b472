/// A queue whose ends are both reached at once.
struct JobQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { elements.count == head }

    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: head <= Self.keptCapacity)
                head = 0
            } else if head >= Self.keptCapacity, head * 2 >= elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    /// Takes out the first element that satisfies a condition, wherever it stands.
    ///
    /// - Complexity: O(n).
    mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
        guard let index = elements[head...].firstIndex(where: { $0.map(isWanted) ?? false }) else { return nil }
        return elements.remove(at: index)
    }

    private static var keptCapacity: Int { 64 }
}
