/// What the files of a target say together.
struct PathTree {
  var access = AccessLevel.internal
  var imports: [ModuleImport] = []
  var root = Namespace(name: nil)
  var entries: [ContextEntry] = []
}

/// A module that the generated code imports.
struct ModuleImport: Hashable {
  let module: String
  /// Nil where it is as visible as the generated code needs it.
  let access: AccessLevel?
}

/// A node of the tree that holds others.
struct Namespace {
  enum Child {
    case namespace(Namespace)
    case key(Key)
  }

  /// Nil for the root.
  let name: JSONString?
  var documentation: Documentation?
  /// In the order in which they are written.
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

/// A leaf of the tree: a path with the type of the state that lives there.
struct Key {
  struct Parameter {
    let name: String
    let type: TypeText
  }

  let name: JSONString
  var documentation: Documentation?
  var parameters: [Parameter] = []
  var operation: TypeText?
  var state: TypeText?
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
