/// Looks for what Xcode would warn of in a model, and for what a coordinator would refuse.
///
/// Predicates and expressions are not parsed: that needs the library, which reports them when it loads the model.
public enum ModelLint {
    /// What is wrong with a model, entity by entity in the order of the document. Diagnostics have no file and line.
    ///
    /// - Complexity: O(n) in the size of the document, inherited properties counted for each entity.
    public static func check(_ document: ModelDocument) -> [ModelDiagnostic] {
        let graph = EntityGraph(document)
        var diagnostics = checkNames(of: document)
        for entity in document.entities {
            diagnostics += EntityLint(entity, graph: graph).check()
        }
        diagnostics += checkGroups(of: document, graph: graph)
        return diagnostics
    }

    private static func checkNames(of document: ModelDocument) -> [ModelDiagnostic] {
        var diagnostics: [ModelDiagnostic] = []
        var classes: [String: String] = [:]
        for name in duplicates(document.entities.map(\.name)) {
            diagnostics.append(ModelDiagnostic(.error, entity: name, "two entities have this name"))
        }
        for entity in document.entities where entity.codeGeneration == .classDefinition {
            guard let name = entity.className else { continue }
            if let other = classes.updateValue(entity.name, forKey: name), other != entity.name {
                diagnostics.append(
                    ModelDiagnostic(.error, entity: entity.name, "class '\(name)' is generated for '\(other)', too"))
            }
        }
        return diagnostics
    }

    private static func checkGroups(of document: ModelDocument, graph: EntityGraph) -> [ModelDiagnostic] {
        var diagnostics: [ModelDiagnostic] = []
        for name in duplicates(document.composites.map(\.name)) {
            diagnostics.append(ModelDiagnostic(.error, property: name, "two composites have this name"))
        }
        for composite in document.composites {
            for name in duplicates(composite.attributes.map(\.name)) {
                diagnostics.append(
                    ModelDiagnostic(.error, entity: composite.name, property: name, "two elements have this name"))
            }
            if graph.compositeDepth(composite.name) == nil {
                diagnostics.append(ModelDiagnostic(.error, property: composite.name, "the composite contains itself"))
            }
        }
        for name in duplicates(document.configurations.map(\.name)) {
            diagnostics.append(ModelDiagnostic(.error, property: name, "two configurations have this name"))
        }
        for configuration in document.configurations {
            for name in configuration.entityNames where graph.entities[name] == nil {
                diagnostics.append(
                    ModelDiagnostic(
                        .error, property: configuration.name, "the configuration has '\(name)', which is no entity"))
            }
        }
        for name in duplicates(document.fetchRequests.map(\.name)) {
            diagnostics.append(ModelDiagnostic(.error, property: name, "two fetch requests have this name"))
        }
        for request in document.fetchRequests where graph.entities[request.entityName] == nil {
            diagnostics.append(
                ModelDiagnostic(
                    .error, property: request.name, "the request fetches '\(request.entityName)', which is no entity"))
        }
        return diagnostics
    }

    static func duplicates(_ names: [String]) -> [String] {
        var seen = Set<String>()
        var reported = Set<String>()
        return names.filter { !seen.insert($0).inserted && reported.insert($0).inserted }
    }
}
