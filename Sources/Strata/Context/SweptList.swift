/// What leads to a member of a ``SweptList`` without keeping it alive.
protocol SweptReference {
    /// Of the member. Another may have it once the member has died.
    var identity: ObjectIdentifier { get }
    var isAlive: Bool { get }
}

/// References to what may die at any time, each once, in the order in which they came.
///
/// Those that have died are looked for when there are twice as many as were alive the last time: to look with each
/// that comes made the thousands of contexts and controllers of a service quadratic.
struct SweptList<Reference: SweptReference> {
    /// Nil where one has been taken out.
    private var references: [Reference?] = []
    /// Where each lies. What it says of members that have died counts no more.
    private var positions: [ObjectIdentifier: Int] = [:]
    private var countToSweep = minimum

    private static var minimum: Int { 16 }

    /// Those that are alive, as far as is known.
    var all: [Reference] { references.compactMap { $0 } }

    /// How many are alive, as far as that is of interest.
    /// - Complexity: O(maximum), apart from those at the end that have died.
    func count(upTo maximum: Int) -> Int {
        var count = 0
        for reference in references.reversed() where reference?.isAlive == true {
            count += 1
            if count == maximum { break }
        }
        return count
    }

    /// Adds a reference at the end, unless it is there.
    /// - Complexity: O(1) on average.
    mutating func insert(_ reference: Reference) {
        if let position = position(reference.identity), references[position]?.isAlive == true { return }
        if references.count >= countToSweep { sweep() }
        positions[reference.identity] = references.count
        references.append(reference)
    }

    /// - Complexity: O(1).
    mutating func remove(_ identity: ObjectIdentifier) {
        guard let position = position(identity) else { return }
        references[position] = nil
        positions[identity] = nil
    }

    private func position(_ identity: ObjectIdentifier) -> Int? {
        guard let position = positions[identity], references[position]?.identity == identity else { return nil }
        return position
    }

    private mutating func sweep() {
        references.removeAll { $0?.isAlive != true }
        positions.removeAll(keepingCapacity: true)
        for (position, reference) in references.enumerated() {
            if let reference { positions[reference.identity] = position }
        }
        countToSweep = max(Self.minimum, references.count * 2)
    }
}
