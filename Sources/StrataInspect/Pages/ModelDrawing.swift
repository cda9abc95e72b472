import Strata
import StrataBrowsing

/// Entities as boxes, in columns by how far they are from those that most lead to, and lines for relationships.
struct ModelDrawing {
    private struct Box {
        let entity: NSEntityDescription
        let lines: [String]
        var x = 0.0
        var y = 0.0
        var height: Double { 30 + Double(lines.count) * ModelDrawing.lineHeight }
    }

    private static let lineHeight = 16.0
    private static let boxWidth = 190.0
    private static let columnWidth = 300.0
    private static let gap = 26.0
    private static let linesMaximum = 10
    /// Of larger models the table has all.
    private static let boxesMaximum = 120

    private var boxes: [Box] = []
    private var indexes: [String: Int] = [:]
    private var (width, height) = (0.0, 0.0)
    private let leftOut: Int
    private let at: String?

    init(_ entities: [NSEntityDescription], at: String?) {
        self.at = at
        leftOut = max(0, entities.count - Self.boxesMaximum)
        for entity in entities.prefix(Self.boxesMaximum) {
            // Inherited ones are in the box of the parent.
            let inherited = Set(entity.superentity?.attributesByName.keys.map { $0 } ?? [])
            let names = entity.attributesByName.keys.filter { !inherited.contains($0) }.sorted()
            let more = names.count - Self.linesMaximum
            indexes[entity.name ?? ""] = boxes.count
            boxes.append(
                Box(
                    entity: entity,
                    lines: names.prefix(Self.linesMaximum).map { CellMarkup.cut(Cell.visible($0), 24) }
                        + (more > 0 ? ["and \(more) more"] : [])))
        }
        place()
    }

    // MARK: Places

    private func neighbors(_ index: Int) -> [Int] {
        let entity = boxes[index].entity
        let names =
            Self.own(entity).compactMap { $0.destinationEntity?.name }
            + entity.subentities.compactMap(\.name).sorted() + [entity.superentity?.name].compactMap { $0 }
        return names.compactMap { indexes[$0] }.filter { $0 != index }
    }

    /// Relationships that are not the parent's, by name.
    private static func own(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
        let inherited = entity.superentity?.relationshipsByName ?? [:]
        return entity.relationshipsByName.values.filter { inherited[$0.name] == nil }.sorted { $0.name < $1.name }
    }

    private mutating func place() {
        var columns: [Int: [Int]] = [:]
        var placed = Set<Int>()
        let order = boxes.indices.sorted { (neighbors($1).count, $0) < (neighbors($0).count, $1) }
        for start in order where placed.insert(start).inserted {
            // Breadth first, so that an edge seldom leads further than to the next column.
            var layer = [start]
            var column = 0
            while !layer.isEmpty {
                columns[column, default: []] += layer
                layer = layer.flatMap(neighbors).filter { placed.insert($0).inserted }
                column += 1
            }
        }
        for (column, members) in columns {
            var y = 14.0
            for member in members {
                boxes[member].x = 14 + Double(column) * Self.columnWidth
                boxes[member].y = y
                y += boxes[member].height + Self.gap
            }
            height = max(height, y)
            width = max(width, Double(column) * Self.columnWidth + Self.boxWidth + 180)
        }
    }

    // MARK: Drawing

    var markup: Markup {
        let rest: Markup = leftOut > 0 ? "<p class=\"note\">\(leftOut) more entities are in the table only.</p>" : ""
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Drawing of the model">
            <svg class="model" width="\(width)" height="\(height)" role="img" aria-label="The model; the table below has all of it">
            \(edges)\(boxes.map(drawn))</svg></div>\(rest)
            """
    }

    private func drawn(_ box: Box) -> Markup {
        let name = box.entity.name ?? ""
        let lines = box.lines.enumerated().map { index, line -> Markup in
            "<text x=\"\(box.x + 10)\" y=\"\(box.y + 42 + Double(index) * Self.lineHeight)\">\(line)</text>\n"
        }
        let abstract: Markup = box.entity.isAbstract ? " abstract" : ""
        return """
            <a href="\(Link("/objects", ["entity": name, "at": at]))"><g class="entity\(abstract)"><title>\(name)</title>
            <rect x="\(box.x)" y="\(box.y)" width="\(Self.boxWidth)" height="\(box.height)" rx="6"/>
            <text class="name" x="\(box.x + 10)" y="\(box.y + 20)">\(CellMarkup.cut(Cell.visible(name), 22))</text>
            \(lines)</g></a>

            """
    }

    /// Each pair of relationships once, and a broken line to the parent.
    private var edges: [Markup] {
        var edges: [Markup] = []
        var seen = Set<ObjectIdentifier>()
        for (index, box) in boxes.enumerated() {
            if let parent = box.entity.superentity?.name.flatMap({ indexes[$0] }) {
                edges.append(edge(index, parent, label: "", kind: "inherits", 0))
            }
            for (number, relationship) in Self.own(box.entity).enumerated() {
                if let inverse = relationship.inverseRelationship, seen.contains(ObjectIdentifier(inverse)) { continue }
                seen.insert(ObjectIdentifier(relationship))
                guard let target = relationship.destinationEntity?.name.flatMap({ indexes[$0] }) else { continue }
                let label = "\(relationship.name)\(relationship.isToMany ? " *" : "")"
                let back = relationship.inverseRelationship.map { " / \($0.name)\($0.isToMany ? " *" : "")" } ?? ""
                edges.append(edge(index, target, label: label + back, kind: "relationship", number))
            }
        }
        return edges
    }

    private func edge(_ from: Int, _ to: Int, label: String, kind: Markup, _ number: Int) -> Markup {
        let (source, target) = (boxes[from], boxes[to])
        let offset = 14 + Double(number % 6) * 12
        let (startY, endY) = (
            source.y + min(offset, source.height - 6), target.y + min(offset, target.height - 6)
        )
        // From the sides that face each other; of the same column both at the right.
        let startX = target.x < source.x ? source.x : source.x + Self.boxWidth
        let endX = target.x > source.x ? target.x : target.x + Self.boxWidth
        let bend = source.x == target.x ? 60.0 + offset / 2 : (endX - startX) / 2
        let (first, second) = (startX + bend, source.x == target.x ? endX + bend : endX - bend)
        let textX = source.x == target.x ? startX + bend * 0.75 : (startX + endX) / 2
        return """
            <g class="\(kind)"><title>\(label)</title>
            <path d="M\(startX) \(startY)C\(first) \(startY) \(second) \(endY) \(endX) \(endY)"/>
            <text x="\(textX)" y="\((startY + endY) / 2 - 3)" text-anchor="middle">\(CellMarkup.cut(Cell.visible(label), 30))</text></g>

            """
    }
}
