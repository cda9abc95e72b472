/// What a directory of pages holds, in one number: two with the same first page and the same stamp have the same
/// locations, in whichever version of an index they are. Stamps are never used again while the process lives.
package struct DirectoryStamp: Hashable, Sendable {
    let firstPage: UInt64
    let stamp: UInt64
}

extension ObjectIndex {
    /// The stamps of the directories that have some keys, ascending: while they stay, so do the locations.
    ///
    /// - Complexity: O(directories); reads no pages.
    package func stamps(of keys: Range<UInt64>) -> [DirectoryStamp] {
        defer { withExtendedLifetime(self) {} }
        var stamps: [DirectoryStamp] = []
        tree.forEachDirectory(from: keys.lowerBound) { directory, firstPage in
            guard firstPage << IndexNode.pageBits < keys.upperBound else { return false }
            stamps.append(DirectoryStamp(firstPage: firstPage, stamp: IndexNode.stamp(directory)))
            return true
        }
        return stamps
    }
}
