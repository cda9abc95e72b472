import StrataLog

extension DirectSearch {
    /// Hands out the rows that a lead finds, until the body returns false.
    ///
    /// - Returns: nil when the body had what it wanted or all there was, else why not.
    func gather(
        _ lead: DirectLead, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        func take(_ ref: ObjectRef) throws(StoreError) -> Bool {
            if lead.hasOthers, !path.entities.contains(ref.entity) { return true }
            return try body(ref)
        }
        switch lead.source {
        case .postings(let number): return try referrers(lead, number, take)
        case .index(let position):
            let index = snapshot.orderedIndex(at: position)
            // With texts that are longer than the index looks at, it has not the order of the values.
            let isOneKey = lead.fixed.count == index.definition.elements.count
            guard index.isReady, !lead.isOrdered || isOneKey || index.isExact else { return .unknown }
            report?.record(index: lead.name, estimated: 0)
            return try entries(lead, index, take)
        }
    }

    private func referrers(
        _ lead: DirectLead, _ number: UInt16, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        guard let value = constant(lead.fixed[0].term),
            let target = try key.target(value, direct.terms[lead.fixed[0].term].slot)
        else { return .unknown }
        report?.record(.postings)
        let count = try snapshot.referrerCount(postings: number, to: target)
        if count > Self.rowsMaximum { return .tooMany }
        for ref in try snapshot.referrers(postings: number, to: target) where try !body(ref) { break }
        return nil
    }

    private func entries(
        _ lead: DirectLead, _ index: OrderedIndex, _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        var capacity = 0
        for element in lead.fixed {
            guard let value = constant(element.term) else { return .unknown }
            capacity += DirectKey.capacity(value)
        }
        return try DirectKey.withMemory(max(capacity, 1)) { memory throws(StoreError) in
            var writer = OrderedKeyWriter(memory)
            for element in lead.fixed {
                guard let value = constant(element.term) else { return .unknown }
                let term = direct.terms[element.term]
                switch try key.append(value, term, isDescending: element.isDescending, to: &writer) {
                case .written: break
                case .nothing: return nil
                case .unknown: return .unknown
                }
            }
            if let list = lead.list { return try each(of: list, writer.written, lead, index, body) }
            if let bounds = lead.bounds { return try between(bounds, writer.written, lead, index, body) }
            guard !lead.isDescending, writer.count > 0 else {
                return try read(OrderedRange(prefix: writer.array), lead, index, body)
            }
            try record(OrderedRange(prefix: writer.array), lead, index)
            try index.forEach(prefix: writer.written, body)
            return nil
        }
    }

    private func read(
        _ range: OrderedRange, _ lead: DirectLead, _ index: OrderedIndex,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        try record(range, lead, index)
        _ = try index.forEach(in: range, descending: lead.isDescending, body)
        return nil
    }

    /// - Parameter range: only made for a report that wants the rows in it counted: a key costs more than most of what
    ///   is noted of a fetch.
    private func record(
        _ range: @autoclosure () -> OrderedRange, _ lead: DirectLead, _ index: OrderedIndex
    ) throws(StoreError) {
        guard let report else { return }
        report.record(index: lead.name, estimated: report.isEstimating ? try index.count(in: range()) : 0)
    }

    /// The rows with one of several values behind the first elements.
    private func each(
        of list: DirectLead.Element, _ prefix: UnsafeRawBufferPointer, _ lead: DirectLead, _ index: OrderedIndex,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        guard case .list(let members)? = constant(list.term), members.elements.count <= Self.rowsMaximum else {
            return .unknown
        }
        let term = direct.terms[list.term]
        var keys: Set<[UInt8]> = []
        for member in members.elements {
            let value = Operand(AnyElements.plain(member))
            let byteCount = prefix.count + DirectKey.capacity(value)
            let outcome = try DirectKey.withMemory(byteCount) { memory throws(StoreError) in
                var writer = OrderedKeyWriter(memory)
                writer.append(bytes: prefix)
                let outcome = try key.append(value, term, isDescending: list.isDescending, to: &writer)
                if case .written = outcome { keys.insert(writer.array) }
                return outcome
            }
            if case .unknown = outcome { return .unknown }
        }
        // Each value once, whatever the list says. Whoever takes the rows sorts them, so any order will do.
        for key in keys {
            try record(OrderedRange(prefix: key), lead, index)
            var goesOn = true
            try key.withBytes { key throws(StoreError) in
                try index.forEach(prefix: key) { ref throws(StoreError) in
                    goesOn = try body(ref)
                    return goesOn
                }
            }
            if !goesOn { return nil }
        }
        return nil
    }

    private func between(
        _ bounds: DirectLead.Bounds, _ prefix: UnsafeRawBufferPointer, _ lead: DirectLead, _ index: OrderedIndex,
        _ body: (ObjectRef) throws(StoreError) -> Bool
    ) throws(StoreError) -> Outcome? {
        var ends: [DirectBound?] = [nil, nil]
        for (position, number) in [bounds.lower, bounds.upper].enumerated() {
            guard let number else { continue }
            let term = direct.terms[number]
            guard let value = constant(number) else { return .unknown }
            switch (term.relation, value) {
            case (.between, .list(let list)):
                guard !list.isUnordered, list.elements.count == 2 else { return .unknown }
                ends[position] = DirectBound(
                    term: term, value: Operand(AnyElements.plain(list.elements[position])), isInclusive: true)
            case (.lower(let isInclusive), _), (.upper(let isInclusive), _):
                ends[position] = DirectBound(term: term, value: value, isInclusive: isInclusive)
            default: return .unknown
            }
        }
        var isEmpty = false
        guard
            let range = try key.range(prefix, ends[0], ends[1], isDescending: bounds.isDescending, &isEmpty)
        else { return .unknown }
        return isEmpty ? nil : try read(range, lead, index, body)
    }
}
