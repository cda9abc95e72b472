extension Array {
    /// Leaves the first so many elements of an order, in any order but for the last of them, which stays last (Hoare's
    /// selection). Does nothing if there are fewer.
    ///
    /// - Parameter precedes: a strict order in which no two elements are equal, or in which it does not matter which of
    ///   equal ones are left.
    /// - Complexity: O(n) on average.
    mutating func keepFirst(_ kept: Int, by precedes: (Element, Element) -> Bool) {
        guard kept > 0, count >= kept else { return }
        let wanted = kept - 1
        withUnsafeMutableBufferPointer { elements in
            var (low, high) = (0, elements.count - 1)
            while low < high {
                let pivot = Self.median(elements[low], elements[(low + high) / 2], elements[high], precedes)
                var (left, right) = (low, high)
                while left <= right {
                    while precedes(elements[left], pivot) { left += 1 }
                    while precedes(pivot, elements[right]) { right -= 1 }
                    if left <= right {
                        elements.swapAt(left, right)
                        left += 1
                        right -= 1
                    }
                }
                if wanted <= right {
                    high = right
                } else if wanted >= left {
                    low = left
                } else {
                    break
                }
            }
        }
        removeLast(count - kept)
    }

    private static func median(
        _ first: Element, _ second: Element, _ third: Element, _ precedes: (Element, Element) -> Bool
    ) -> Element {
        let (low, high) = precedes(first, second) ? (first, second) : (second, first)
        return precedes(high, third) ? high : precedes(low, third) ? third : low
    }
}
