/// Counts how often each owner comes.
enum OwnerCounts {
    /// Answers for smaller counts than this are remembered.
    private static let rememberedCounts = 256
    /// With fewer members than one for this many keys, owners are sorted instead of counted in an array of all.
    private static let keysPerMember = 16

    /// The owners whose count satisfies a condition; those that do not come are not asked.
    ///
    /// - Parameters:
    ///   - keys: an owner for each member.
    ///   - holds: asked once for each small count.
    static func owners(_ keys: [Int64], where holds: (Int) -> Bool) -> [Int64] {
        var known = [Bool?](repeating: nil, count: rememberedCounts)
        func isMeant(_ count: Int) -> Bool {
            guard count < rememberedCounts else { return holds(count) }
            if let known = known[count] { return known }
            let result = holds(count)
            known[count] = result
            return result
        }
        let greatest = Int(keys.max() ?? 0)
        var found: [Int64] = []
        if greatest / keysPerMember < keys.count {
            var counts = [UInt32](repeating: 0, count: greatest + 1)
            for key in keys { counts[Int(key)] += 1 }
            for (key, count) in counts.enumerated() where count > 0 && isMeant(Int(count)) { found.append(Int64(key)) }
        } else {
            var count = 0
            let sorted = keys.sorted()
            for (index, key) in sorted.enumerated() {
                count += 1
                guard index + 1 == sorted.count || sorted[index + 1] != key else { continue }
                if isMeant(count) { found.append(key) }
                count = 0
            }
        }
        return found
    }
}
