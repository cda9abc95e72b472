/// Objects that have to be put in place, by the section that each names.
struct SectionArrivals {
    struct Section {
        let name: String
        /// In order.
        var objects: [NSManagedObject] = []
        /// Whether results that stay are in it.
        var isSettled = false
    }

    /// In the order of their first objects.
    private var sections: [Section] = []
    private var indexes: [ExactText: Int] = [:]
    /// New sections by how many of those that are there come before them.
    private var places: [Int: [Section]] = [:]

    /// - Parameter objects: in order.
    init(_ objects: [NSManagedObject], _ core: FetchedResultsCore) {
        for object in objects {
            let name = core.sectionName(of: object)
            let index = indexes[ExactText(name)] ?? sections.count
            if index == sections.count {
                indexes[ExactText(name)] = index
                sections.append(Section(name: name))
            }
            sections[index].objects.append(object)
        }
    }

    /// A section is there already.
    mutating func settle(_ name: String) {
        if let index = indexes[ExactText(name)] { sections[index].isSettled = true }
    }

    func objects(in name: String) -> [NSManagedObject] {
        indexes[ExactText(name)].map { sections[$0].objects } ?? []
    }

    /// Finds where the new sections go among those that are there.
    ///
    /// - Parameter precedes: whether the section with an index, of those that are there, comes before an object.
    mutating func findPlaces(among count: Int, _ precedes: (Int, NSManagedObject) -> Bool) {
        var least = 0
        for index in sections.indices where !sections[index].isSettled {
            var (low, high) = (least, count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(middle, sections[index].objects[0]) { low = middle + 1 } else { high = middle }
            }
            places[low, default: []].append(sections[index])
            least = low
        }
    }

    /// The new sections that come after so many of those that are there.
    func newSections(at place: Int) -> [Section] { places[place] ?? [] }
}
