/// The paths of one target of a package.
package struct TargetPaths {
  let name: String
  let files: [SourceFile]
  let tree: PathTree

  /// Reads the files of a target.
  package init(name: String, files: [SourceFile]) throws(PathKeyGenerator.Failure) {
    self.name = name
    self.files = files
    self.tree = try PathKeyGenerator.tree(of: files)
  }
}

extension TargetPaths {
  struct Entry {
    let target: String
    let names: [String]
    let key: Key
  }

  /// The keys with the names in their paths, in the order of the text.
  var entries: [Entry] { self.entries(in: self.tree.root, path: []) }

  private func entries(in namespace: Namespace, path: [String]) -> [Entry] {
    namespace.children.flatMap { child in
      switch child {
      case .namespace(let child): self.entries(in: child, path: path + [child.name?.text ?? ""])
      case .key(let key): [Entry(target: self.name, names: path + [key.name.text], key: key)]
      }
    }
  }
}
