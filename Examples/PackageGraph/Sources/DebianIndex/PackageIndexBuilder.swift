/// Gathers the stanzas of index files into a ``PackageIndex``.
struct PackageIndexBuilder {
    /// A stanza's record while its dependencies still name their targets.
    private struct Draft {
        var record: PackageRecord
        var nameID: Int
        var links: Range<Int>
    }

    private struct Link {
        var nameID: Int
        var kind: DependencyKind
        var group: Int32
        var alternative: Int32
        var relation: VersionRelation
        var version: Int32
        var qualifier: Int32
    }

    /// A stanza may be this long; a longer one is a file of another kind.
    static let stanzaMaximumBytes = 16 << 20

    private var names = StringTable()
    private var maintainers = StringTable()
    private var sections = StringTable()
    /// Values that repeat: architectures, priorities, versions in constraints, sources.
    private var values = StringTable()
    private var drafts: [Draft] = []
    private var draftOfName: [Int: Int] = [:]
    private var links: [Link] = []
    private var statistics = PackageIndex.Statistics()

    var hasPackages: Bool { !drafts.isEmpty }

    /// Adds the stanzas of one file.
    mutating func read(_ path: String) throws(IndexError) {
        let source = try ByteSource(path: path)
        var scanner = StanzaScanner(path: path)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var filled = 0
        while true {
            if filled == buffer.count {
                guard filled < Self.stanzaMaximumBytes else {
                    throw IndexError(.malformed, path: path, "has a stanza of more than \(filled >> 20) MiB")
                }
                buffer.append(contentsOf: repeatElement(0, count: filled))
            }
            let count = try source.read(into: &buffer, from: filled)
            filled += count
            statistics.rawByteCount += count
            let used = try scanner.scan(buffer.span.extracting(first: filled), isAtEnd: count == 0) {
                (bytes, stanza) throws(IndexError) in
                try add(stanza, bytes, path: path)
            }
            if count == 0 { break }
            // What is left is part of one stanza: short, most of the time.
            for offset in 0..<(filled - used) { buffer[offset] = buffer[used + offset] }
            filled -= used
        }
        statistics.storedByteCount += source.storedByteCount
    }

    private mutating func add(_ stanza: Stanza, _ bytes: Span<UInt8>, path: String) throws(IndexError) {
        statistics.stanzaCount += 1
        if stanza.contains(.status), !isInstalled(bytes.extracting(stanza[.status])) {
            statistics.notInstalledCount += 1
            return
        }
        guard !stanza[.package].isEmpty else {
            throw IndexError(
                .malformed, path: path, line: stanza.line,
                "the stanza has no Package field, so this is no Debian package index")
        }
        guard !stanza[.version].isEmpty else {
            throw IndexError(.malformed, path: path, line: stanza.line, "the stanza has no Version field")
        }
        let nameID = names.insert(bytes.extracting(stanza[.package]))
        let version = text(bytes, stanza[.version])
        let earlier = draftOfName[nameID]
        if let earlier {
            statistics.supersededCount += 1
            guard DebianVersion.isEarlier(drafts[earlier].record.version, than: version) else { return }
        }
        let record = try makeRecord(stanza, bytes, nameID: nameID, version: version, path: path)
        let draft = Draft(record: record, nameID: nameID, links: try addLinks(stanza, bytes, path: path))
        if let earlier {
            drafts[earlier] = draft
        } else {
            draftOfName[nameID] = drafts.count
            drafts.append(draft)
        }
    }

    private mutating func makeRecord(
        _ stanza: Stanza, _ bytes: Span<UInt8>, nameID: Int, version: String, path: String
    ) throws(IndexError) -> PackageRecord {
        var record = PackageRecord(name: names.strings[nameID])
        record.version = version
        record.architecture = shared(bytes, stanza[.architecture]) ?? ""
        record.priority = shared(bytes, stanza[.priority])
        record.source = shared(bytes, stanza[.source])
        record.homepage = shared(bytes, stanza[.homepage])
        record.summary = firstLine(bytes, stanza[.summary])
        record.fileName = stanza[.fileName].isEmpty ? nil : text(bytes, stanza[.fileName])
        record.installedSizeKiB = try number(.installedSize, "Installed-Size", stanza, bytes, path)
        record.downloadSizeBytes = try number(.downloadSize, "Size", stanza, bytes, path)
        record.isEssential = text(bytes, stanza[.essential]) == "yes"
        if !stanza[.maintainer].isEmpty {
            record.maintainer = maintainers.insert(bytes.extracting(stanza[.maintainer]))
        }
        if !stanza[.section].isEmpty { record.section = sections.insert(bytes.extracting(stanza[.section])) }
        return record
    }

    private mutating func addLinks(
        _ stanza: Stanza, _ bytes: Span<UInt8>, path: String
    ) throws(IndexError) -> Range<Int> {
        let start = links.count
        for kind in DependencyKind.allCases where stanza.contains(kind.field) {
            do {
                try RelationshipParser.parse(bytes, stanza[kind.field]) { item in
                    links.append(
                        Link(
                            nameID: names.insert(bytes.extracting(item.name)), kind: kind,
                            group: Int32(item.group), alternative: Int32(item.alternative), relation: item.relation,
                            version: sharedID(bytes, item.version), qualifier: sharedID(bytes, item.qualifier)))
                }
            } catch {
                let line = stanza.line(of: kind.field)
                throw IndexError(.malformed, path: path, line: line, "the \(kind.fieldName) field \(error.reason)")
            }
        }
        return start..<links.count
    }

    /// The index of everything added, with the dependencies' targets looked up.
    consuming func finish() -> PackageIndex {
        var index = PackageIndex()
        index.packages = drafts.map(\.record)
        var packageOfName = draftOfName
        // Provided names first: a dependency may come before the package that provides its target.
        for draft in drafts {
            for link in links[draft.links] where link.kind == .provides && packageOfName[link.nameID] == nil {
                packageOfName[link.nameID] = index.packages.count
                index.packages.append(PackageRecord(name: names.strings[link.nameID], isVirtual: true))
            }
        }
        index.virtualPackageCount = index.packages.count - drafts.count
        index.dependencies.reserveCapacity(links.count)
        for (owner, draft) in drafts.enumerated() {
            for link in links[draft.links] {
                let target = packageOfName[link.nameID]
                index.dependencies.append(
                    DependencyRecord(
                        owner: owner, target: target, kind: link.kind, group: Int(link.group),
                        alternative: Int(link.alternative), relation: link.relation, version: value(link.version),
                        qualifier: value(link.qualifier),
                        unresolvedName: target == nil ? names.strings[link.nameID] : nil))
            }
        }
        index.maintainers = maintainers.strings
        index.sections = sections.strings
        index.statistics = statistics
        return index
    }

    // MARK: Values

    private func value(_ id: Int32) -> String? { id < 0 ? nil : values.strings[Int(id)] }

    private mutating func sharedID(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int32 {
        range.isEmpty ? -1 : Int32(values.insert(bytes.extracting(range)))
    }

    private mutating func shared(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        // In two steps: as one expression, the table would be read before the string is in it.
        let id = sharedID(bytes, range)
        return value(id)
    }

    private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    private func firstLine(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        var end = range.lowerBound
        while end < range.upperBound, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        return end == range.lowerBound ? nil : text(bytes, range.lowerBound..<end)
    }

    private func number(
        _ field: StanzaField, _ name: String, _ stanza: Stanza, _ bytes: Span<UInt8>, _ path: String
    ) throws(IndexError) -> Int64 {
        guard !stanza[field].isEmpty else { return 0 }
        let written = text(bytes, stanza[field])
        guard let number = Int64(written), number >= 0 else {
            throw IndexError(
                .malformed, path: path, line: stanza.line(of: field), "\(name) is \"\(written)\", which is no size")
        }
        return number
    }

    /// dpkg's status: `want flag state`, of which the last counts.
    private func isInstalled(_ status: Span<UInt8>) -> Bool {
        status.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.hasSuffix(" installed")
    }
}
