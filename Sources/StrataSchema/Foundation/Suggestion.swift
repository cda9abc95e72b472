/// "Did you mean": finds the name that was probably meant.
package enum Suggestion {
    /// ` (did you mean "x"?)` for the nearest of the names; empty when none is near.
    package static func text(for name: String, among names: (some Sequence<String>)?) -> String {
        guard let names, let nearest = nearest(to: name, among: names) else { return "" }
        return " (did you mean \"\(nearest)\"?)"
    }

    /// The name with the fewest edits to `name`, upper and lower case being the same: at most one for three characters.
    ///
    /// - Complexity: O(n·m) for each name, in the lengths; names of more than ``lengthMaximum`` characters have none.
    static func nearest(to name: String, among names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased())
        guard wanted.count <= lengthMaximum else { return nil }
        var limit = max(1, (wanted.count + 1) / 3)
        var best: String?
        for candidate in names.sorted() where candidate != name {
            let letters = Array(candidate.lowercased())
            guard abs(letters.count - wanted.count) <= limit else { continue }
            let distance = distance(wanted, letters)
            // Of equal ones the first in the order of names counts.
            guard distance < limit || (best == nil && distance == limit) else { continue }
            (best, limit) = (candidate, distance)
        }
        return best
    }

    /// Names longer than this are compared with nothing.
    static let lengthMaximum = 64

    /// How many letters must be inserted, removed, replaced or exchanged with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }
}
