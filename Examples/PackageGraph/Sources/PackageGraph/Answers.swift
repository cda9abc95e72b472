import CoreData

/// Prints what the graph answers.
struct Answers {
    let context: NSManagedObjectContext

    /// Asks every question and prints the answers. On the context's queue.
    func print(about name: String, openTime: Duration) throws {
        let questions = Questions(context: context)
        let clock = ContinuousClock()
        Swift.print("\nReopened in \(Text.duration(openTime))")

        var start = clock.now
        let needed = try questions.mostNeeded(limit: 10)
        heading("Most depended-upon packages (Depends and Pre-Depends)", clock.now - start)
        for item in needed { row(item.package.name, Text.count(item.count), "packages", note(item.package)) }

        start = clock.now
        if let root = try questions.package(named: name) {
            let all = questions.installationSet(of: root)
            let size = all.reduce(0) { $0 + $1.installedSizeKiB }
            heading("What \(name) pulls in", clock.now - start)
            row("packages", Text.count(all.count - 1), "", "besides itself")
            row("installed size", Text.bytes(size * 1024), "", "together")
            for package in all.dropFirst().sorted(by: {
                ($1.installedSizeKiB, $0.name) < ($0.installedSizeKiB, $1.name)
            })
            .prefix(5) {
                row("  \(package.name)", Text.bytes(package.installedSizeKiB * 1024), "", note(package))
            }
        }

        start = clock.now
        let busiest = try questions.busiestMaintainers(limit: 5)
        heading("Maintainers with the most packages", clock.now - start)
        for item in busiest { row(item) }
        start = clock.now
        let heaviest = try questions.heaviestMaintainers(limit: 5)
        heading("Maintainers of the most installed bytes", clock.now - start)
        for item in heaviest { row(item) }
    }

    private func heading(_ text: String, _ duration: Duration) {
        Swift.print("\n\(text)  [\(Text.duration(duration))]")
    }

    private func row(_ item: Questions.Load) {
        let name = item.maintainer.name
        let size = Text.bytes(item.installedSizeKiB * 1024)
        row(name, Text.count(item.packageCount), "packages", "\(size) installed")
    }

    private func row(_ name: String, _ figure: String, _ unit: String, _ note: String) {
        let left = Text.padded(name, to: 36)
        let middle = Text.padded(figure, to: 10, right: true) + (unit.isEmpty ? "" : " \(unit)")
        Swift.print("  \(left) \(middle)\(note.isEmpty ? "" : "  \(note)")")
    }

    private func note(_ package: Package) -> String { package.isVirtual ? "(virtual)" : package.summary ?? "" }
}
