/// The numbers that keep the order of an ordered relationship in its members' rows.
enum OrderPositions {
    /// Distance between neighbours when numbers are given out, so that later ones fit in between.
    static let gap: Int64 = 1 << 20

    /// Ascending positive numbers, of which as many as can be are those given: each other one is a row to be written.
    ///
    /// - Complexity: O(n log n).
    static func assign(_ known: [Int64?]) -> [Int64] {
        let kept = longestAscending(known)
        var result = known.map { $0 ?? 0 }
        var index = 0
        var last: Int64 = 0
        for end in kept + [known.count] {
            let new = end - index
            if end == known.count {
                for place in 0..<new { result[index + place] = last + Int64(place + 1) * gap }
            } else {
                let step = (result[end] - last) / Int64(new + 1)
                if new > 0, step == 0 { return known.indices.map { Int64($0 + 1) * gap } }
                for place in 0..<new { result[index + place] = last + Int64(place + 1) * step }
                last = result[end]
            }
            index = end + 1
        }
        return result
    }

    /// The indexes of a longest ascending subsequence of the positive numbers.
    private static func longestAscending(_ known: [Int64?]) -> [Int] {
        // For each length, the index that the subsequence of this length with the least last number ends at.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: known.count)
        for (index, number) in known.enumerated() {
            guard let number, number > 0 else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if let other = known[ends[middle]], other < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            result.append(index)
            index = previous[index]
        }
        return result.reversed()
    }
}
