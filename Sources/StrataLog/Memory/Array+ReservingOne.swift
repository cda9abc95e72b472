extension Array {
    /// Appends to a list that mostly ends up with one element: the first takes as much memory as it needs, which costs
    /// half as much as growing.
    @inline(__always)
    mutating func append(reservingOne element: Element) {
        if capacity == 0 { self = [element] } else { append(element) }
    }
}
