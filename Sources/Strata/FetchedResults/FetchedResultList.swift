import Foundation

/// Results in order, divided into sections. A value: updates make a new one.
struct FetchedResultList {
    let objects: [AnyObject]
    let sections: [FetchedSection]

    /// Groups neighbours of the same name. Without names there is one section, even if it is empty.
    ///
    /// - Parameter names: parallel to the objects; nil when there are no sections.
    init(_ objects: [AnyObject], names: [String]?, _ core: FetchedResultsCore) {
        self.objects = objects
        guard let names else {
            sections = [FetchedSection("", objects[...], core)]
            return
        }
        var sections: [FetchedSection] = []
        var start = 0
        for index in objects.indices
        where index + 1 == objects.count || !names[index + 1].isExactly(names[index]) {
            sections.append(FetchedSection(names[start], objects[start...index], core))
            start = index + 1
        }
        self.sections = sections
    }

    /// As above, from the names and sizes of the sections.
    init(_ objects: [AnyObject], runs: [(name: String, count: Int)], _ core: FetchedResultsCore) {
        self.objects = objects
        var sections: [FetchedSection] = []
        var start = 0
        for run in runs {
            sections.append(FetchedSection(run.name, objects[start..<start + run.count], core))
            start += run.count
        }
        self.sections = sections
    }

    /// The path of a position among all results.
    ///
    /// - Complexity: O(log sections).
    func path(_ index: Int) -> IndexPath {
        var low = 0
        var high = sections.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if sections[middle].start <= index { low = middle } else { high = middle }
        }
        return IndexPath(row: index - sections[low].start, section: low)
    }

    /// The section name of every result.
    var names: [String] {
        sections.flatMap { repeatElement($0.name, count: $0.elements.count) }
    }
}
