import Foundation

/// Under which names the slots of an entity's rows were before.
struct SlotSources {
    private var names: [String: String] = [:]
    private var attributes: [String: NSAttributeDescription] = [:]

    init(_ match: ModelMatch, _ shape: EntityShape) {
        for (name, source) in match.attributes(of: shape.entity) {
            guard let attribute = shape.entity.attributesByName[name] else { continue }
            add(name, attribute, source.name, source)
        }
        for (name, source) in match.relationships(of: shape.entity) {
            names[name] = source.name
            names[ShapeLayout.positionName(name)] = ShapeLayout.positionName(source.name)
        }
    }

    private mutating func add(
        _ name: String, _ attribute: NSAttributeDescription, _ sourceName: String, _ source: NSAttributeDescription
    ) {
        guard let composite = attribute as? NSCompositeAttributeDescription,
            let other = source as? NSCompositeAttributeDescription
        else {
            names[name] = sourceName
            attributes[name] = source
            return
        }
        let pairs = ModelMatch.elements(other, composite)
        for element in composite.elements {
            guard let before = pairs[element.name] else { continue }
            add("\(name).\(element.name)", element, "\(sourceName).\(before.name)", before)
        }
    }

    /// The former name of a slot; nil for a new one.
    func name(_ slot: String) -> String? { names[slot] }

    /// The attribute that a slot was of.
    func attribute(_ slot: String) -> NSAttributeDescription? { attributes[slot] }
}
