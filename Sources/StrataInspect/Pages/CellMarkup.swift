import Foundation
import StrataBrowsing

/// Values on pages.
enum CellMarkup {
    /// For a field of a table: on one line, and not longer than a line.
    ///
    /// - Parameter at: the point of the past that links lead to, as it was written.
    static func short(_ cell: Cell, at: String?) -> Markup {
        switch cell {
        case .null: return "<span class=\"none\">NULL</span>"
        case .absent: return ""
        case .object(let uri):
            let name = objectName(uri)
            return "<a href=\"\(Link("/object", ["id": name, "at": at]))\">\(decoded(name))</a>"
        case .list(let cells):
            return
                "\(cells.prefix(8).map { short($0, at: at) as Markup }.joined(separator: " "))\(cells.count > 8 ? " …" : "")"
        case .text(let text) where text.isEmpty: return "<span class=\"none\">\"\"</span>"
        case .data(let data): return "<span class=\"note\">\(ByteSize.text(data.count))</span>"
        case .bytes(let count): return "\(ByteSize.text(count))"
        default: return "<bdi>\(Cell.visible(cut(cell.plainText, Limits.cellCharacters)))</bdi>"
        }
    }

    /// A table with a row for each record, and a link for those columns that have one.
    static func table(
        _ columns: [(title: String, link: Link?, isSorted: Bool?)], _ records: [[Cell]], at: String?, caption: Markup,
        id: String = "results"
    ) -> Markup {
        let heads = columns.map { column -> Markup in
            let title: Markup = "<bdi>\(Cell.visible(cut(column.title, Limits.cellCharacters)))</bdi>"
            let order: Markup =
                switch column.isSorted {
                case true?: " aria-sort=\"ascending\""
                case false?: " aria-sort=\"descending\""
                case nil: ""
                }
            guard let link = column.link else { return "<th scope=\"col\">\(title)</th>" }
            return "<th scope=\"col\"\(order)><a href=\"\(link)\">\(title)</a></th>"
        }
        let rows = records.map { record -> Markup in
            let fields = record.map { cell -> Markup in
                let kind: Markup = cell.isNumeric ? " class=\"number\"" : ""
                return "<td\(kind)>\(short(cell, at: at))</td>"
            }
            return "<tr tabindex=\"-1\">\(fields)</tr>\n"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Table"><table id="\(id)"><caption>\(caption)</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>
            """
    }

    static func table(
        _ columns: [String], _ records: [[Cell]], at: String?, caption: Markup, id: String = "results"
    )
        -> Markup
    {
        table(columns.map { ($0, nil, nil) }, records, at: at, caption: caption, id: id)
    }

    /// The end of an object's URI: its entity, encoded as it is there, and its key.
    static func objectName(_ uri: String) -> String { uri.split(separator: "/").suffix(2).joined(separator: "/") }

    static func decoded(_ name: String) -> String { cut(name.removingPercentEncoding ?? name, Limits.cellCharacters) }

    /// The beginning of a text. Scalars are counted: one character may have thousands of them.
    static func cut(_ text: String, _ maximum: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: maximum, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }
}

extension [Markup] {
    func joined(separator: Markup) -> Markup {
        var result = Markup()
        for (index, part) in enumerated() {
            if index > 0 { result += separator }
            result += part
        }
        return result
    }
}
