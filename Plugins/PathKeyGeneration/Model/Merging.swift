/// Merges the contents of a target's files, and reports conflicts between them.
struct Merging {
  var log = DiagnosticLog()

  /// Merges the files into the tree of the target.
  static func merge(_ contents: [FileReader.Content], into log: inout DiagnosticLog) -> PathTree {
    var merging = Merging()
    var tree = PathTree()
    merging.mergeAccess(of: contents, into: &tree)
    let imports = Set(contents.flatMap(\.tree.imports))
    tree.imports = imports.sorted { ($0.module, $0.access?.rawValue ?? "") < ($1.module, $1.access?.rawValue ?? "") }
    for content in contents {
      merging.merge(content.tree.root.children, into: &tree.root, path: [])
    }
    merging.mergeEntries(of: contents, into: &tree)
    merging.mergeLinks(of: contents, into: &tree)
    merging.checkTypes(in: tree.root, path: [])
    merging.checkTypes(of: tree.entries)
    merging.checkOperations(in: tree.root)
    log.append(contentsOf: merging.log.diagnostics)
    return tree
  }

  private mutating func mergeAccess(of contents: [FileReader.Content], into tree: inout PathTree) {
    var first: Place?
    for content in contents {
      guard let place = content.access else { continue }
      if let first, content.tree.access != tree.access {
        self.log.report(
          .accessDisagrees,
          at: place,
          "the access level is '\(content.tree.access.rawValue)' here and '\(tree.access.rawValue)' at \(first.description)",
          remedy: "write the same in all files of the target, or in one of them alone"
        )
      } else {
        first = place
        tree.access = content.tree.access
      }
    }
  }

  private mutating func mergeLinks(of contents: [FileReader.Content], into tree: inout PathTree) {
    for links in contents.compactMap(\.tree.links) {
      if let first = tree.links, first.text != links.text {
        self.log.report(
          .duplicateEntry,
          at: links.place,
          "the type of links is '\(links.text)' here and '\(first.text)' at \(first.place.description)",
          remedy: "write the same in all files of the target, or in one of them alone"
        )
      } else {
        tree.links = links
      }
    }
  }

  private mutating func mergeEntries(of contents: [FileReader.Content], into tree: inout PathTree) {
    var places: [String: Place] = [:]
    for entry in contents.flatMap(\.tree.entries) {
      if let first = places[entry.name.text] {
        self.log.report(
          .duplicateEntry,
          at: entry.name.place,
          "the context entry '\(entry.name.text)' is defined twice, first at \(first.description)",
          remedy: "remove or rename one"
        )
      } else {
        places[entry.name.text] = entry.name.place
        tree.entries.append(entry)
      }
    }
  }

  private mutating func merge(_ children: [Namespace.Child], into namespace: inout Namespace, path: [String]) {
    var indices: [String: Int] = [:]
    for (index, child) in namespace.children.enumerated() {
      if let name = child.name { indices[name.text] = index }
    }
    for child in children {
      guard let name = child.name else { continue }
      let path = path + [name.text]
      guard let index = indices[name.text] else {
        indices[name.text] = namespace.children.count
        namespace.children.append(child)
        continue
      }
      switch (namespace.children[index], child) {
      case (.namespace(var first), .namespace(let second)):
        self.mergeDocumentation(of: second, into: &first, path: path)
        self.merge(second.children, into: &first, path: path)
        namespace.children[index] = .namespace(first)
      case (.key(let first), .key):
        self.log.report(
          .duplicatePath,
          at: name.place,
          "the path \(path.literal) is defined twice, first at \(first.name.place.description)",
          remedy: "remove or rename one of the two keys"
        )
      case (let first, .key), (let first, .namespace):
        self.log.report(
          .ambiguousPath,
          at: name.place,
          "\(path.literal) is a \(first.kind) at \(first.name?.place.description ?? "") and a \(child.kind) here, so a "
            + "parameter of the key could make the path of a key in the namespace",
          remedy: "rename one of the two"
        )
      }
    }
  }

  private mutating func mergeDocumentation(of second: Namespace, into first: inout Namespace, path: [String]) {
    guard let documentation = second.documentation else { return }
    if let earlier = first.documentation {
      self.log.report(
        .secondDocumentation,
        at: documentation.place,
        "the namespace \(path.literal) is described here and at \(earlier.place.description)",
        remedy: "keep one 'doc'"
      )
    } else {
      first.documentation = documentation
    }
  }
}

extension Namespace.Child {
  fileprivate var kind: String {
    switch self {
    case .namespace: "namespace"
    case .key: "key"
    }
  }
}

extension [String] {
  /// The path as a Swift literal: `["users", "friends"]`.
  var literal: String { "[" + self.map { "\"\($0)\"" }.joined(separator: ", ") + "]" }
}
