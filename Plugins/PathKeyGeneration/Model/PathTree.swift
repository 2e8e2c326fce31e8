/// The merged contents of the files of a target.
struct PathTree {
  var access = AccessLevel.internal
  var imports: [ModuleImport] = []
  var root = Namespace(name: nil)
  var entries: [ContextEntry] = []
  /// The name of the type that finds the key of a path; nil for none.
  var links: JSONString?
}

/// A module that the generated code imports.
struct ModuleImport: Hashable {
  let module: String
  /// Nil for the access level that the generated code needs.
  let access: AccessLevel?
}

/// A node that contains other nodes.
struct Namespace {
  enum Child {
    case namespace(Namespace)
    case key(Key)
  }

  /// Nil for the root.
  let name: JSONString?
  var documentation: Documentation?
  /// The children in the order of the text.
  var children: [Child] = []

  init(name: JSONString?) {
    self.name = name
  }
}

extension Namespace.Child {
  var name: JSONString? {
    switch self {
    case .namespace(let namespace): namespace.name
    case .key(let key): key.name
    }
  }
}

/// A leaf of the tree: a path with the type of its state.
struct Key {
  struct Parameter {
    let name: String
    let type: TypeText
    /// The value of an argument that is left out; nil for a parameter that needs one.
    var initial: ExpressionText?
  }

  let name: JSONString
  var documentation: Documentation?
  var parameters: [Parameter] = []
  var operation: TypeText?
  var state: TypeText?
  /// Why the key is deprecated, if it is; nil with only the name of another one.
  var deprecation: JSONString?
  /// The names of the key that replaces it.
  var replacement: String?

  var isDeprecated: Bool { self.deprecation != nil || self.replacement != nil }
}

/// A typed entry of the context.
struct ContextEntry {
  let name: JSONString
  var documentation: Documentation?
  let type: TypeText
  let initial: ExpressionText
}

/// The lines of a documentation comment.
struct Documentation {
  let lines: [String]
  let place: Place

  init(_ string: JSONString) {
    let lines = string.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    self.lines = lines.map(String.init)
    self.place = string.place
  }
}
