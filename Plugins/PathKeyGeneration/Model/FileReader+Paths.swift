extension FileReader {
  /// Reads a node that contains other nodes.
  mutating func namespace(named name: JSONString?, _ object: JSONObject, at place: Place) -> Namespace {
    var namespace = Namespace(name: name)
    if name != nil, object["doc"]?.isDocumentation == true { namespace.documentation = self.documentation(of: object) }
    var isEmpty = true
    for member in object.members where name == nil || !member.isDocumentation {
      isEmpty = false
      guard case .object(let node) = member.value.value else {
        let isField = Self.keyFields.contains(member.name.text)
        self.log.report(
          .wrongKind,
          at: member.value.place,
          "'\(member.name.text.onOneLine)' is \(member.value.kind), expected a namespace or a key",
          remedy: isField
            ? "put the fields of a key under the key's name" : "write an object with 'state', or with nodes below it"
        )
        continue
      }
      let isName = self.isUsableName(member.name, for: .node)
      if node.isKey {
        guard let key = self.key(member.name, node), isName else { continue }
        namespace.children.append(.key(key))
      } else {
        let child = self.namespace(named: member.name, node, at: member.name.place)
        if isName { namespace.children.append(.namespace(child)) }
      }
    }
    if isEmpty, !object.isIncomplete {
      self.log.report(
        .emptyTree,
        at: place,
        name.map { "the namespace '\($0.text.onOneLine)' is empty" } ?? "'paths' is empty",
        remedy: "add a key, such as me: { state: \"QueryState<User, any Error>\" }, or remove it"
      )
    }
    return namespace
  }

  static let keyFields = ["parameters", "operation", "state", "doc", "deprecated", "renamed"]

  private mutating func key(_ name: JSONString, _ object: JSONObject) -> Key? {
    let subject = "the key '\(name.text.onOneLine)'"
    var key = Key(name: name)
    self.refuseUnknownFields(of: object, Self.keyFields, in: subject)
    let parameters = object["parameters"].map { self.parameters($0.value, for: object["operation"]) } ?? []
    let operation = object["operation"].flatMap { self.operation($0) }
    let state = object["state"].flatMap { self.type($0) }
    key.documentation = self.documentation(of: object)
    key.deprecation = object["deprecated"].flatMap { self.string($0.value, "'deprecated'") }
    key.replacement = object["renamed"].flatMap { self.replacement($0.value) }
    if object["state"] == nil, object["operation"] == nil {
      guard !object.isIncomplete else { return nil }
      self.log.report(
        .missingState,
        at: name.place,
        "\(subject) has neither 'state' nor 'operation'",
        remedy: "add the type of its state, such as state: \"QueryState<User, any Error>\""
      )
      return nil
    }
    guard let parameters, operation != nil || state != nil else { return nil }
    key.parameters = parameters
    key.operation = operation
    key.state = state
    return key
  }

  private mutating func parameters(_ node: JSONNode, for operation: JSONObject.Member?) -> [Key.Parameter]? {
    let use = operation == nil ? NameUse.parameter : .member
    guard let object = self.object(node, "'parameters'") else { return nil }
    var parameters: [Key.Parameter] = []
    for member in object.members {
      let isName = self.isUsableName(member.name, for: use)
      guard let parameter = self.parameter(member), isName else { continue }
      parameters.append(parameter)
    }
    return parameters.count == object.members.count && !object.isIncomplete ? parameters : nil
  }

  /// Reads a parameter: its type, or an object with a type and a default value, which is nil for an optional type.
  private mutating func parameter(_ member: JSONObject.Member) -> Key.Parameter? {
    let name = member.name.text
    guard case .object(let object) = member.value.value else {
      return self.type(member, allowsSome: true).map { Key.Parameter(name: name, type: $0) }
    }
    let subject = "the parameter '\(name.onOneLine)'"
    self.refuseUnknownFields(of: object, ["type", "default"], in: subject)
    guard let member = object["type"], let type = self.type(member, allowsSome: true) else { return nil }
    var parameter = Key.Parameter(name: name, type: type)
    guard let initial = object["default"] else {
      if type.isOptional { parameter.initial = ExpressionText(text: "nil", place: type.place) }
      return parameter
    }
    guard let string = self.string(initial.value, "'default'"), let text = ExpressionText(string, log: &self.log) else {
      return nil
    }
    parameter.initial = text
    return parameter
  }

  /// The names of the key that replaces another one: `users.profile`.
  private mutating func replacement(_ node: JSONNode) -> String? {
    guard let string = self.string(node, "'renamed'") else { return nil }
    let names = string.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.allSatisfy(SwiftName.isIdentifier) {
      return (["PathKeys"] + names.map(SwiftName.escaped)).joined(separator: ".")
    }
    self.log.report(
      .invalidName,
      at: string.place,
      "'\(string.text.onOneLine)' is no key",
      remedy: "write the names of the key with dots between them, such as \"users.profile\""
    )
    return nil
  }

  private mutating func operation(_ member: JSONObject.Member) -> TypeText? {
    guard let string = self.string(member.value, "'operation'"), let type = TypeText(string, log: &self.log) else {
      return nil
    }
    guard type.isPlainName else {
      self.log.report(
        .malformedOperation,
        at: type.place,
        "'\(string.text.onOneLine)' cannot get a path from here",
        remedy: "name a type without generic arguments, such as \"User.ProfileQuery\", or remove 'operation'"
      )
      return nil
    }
    return type
  }
}

extension JSONObject {
  /// Whether the object is a key. All members of a namespace are objects, except its documentation.
  fileprivate var isKey: Bool {
    self.members.contains { member in
      guard case .object(let object) = member.value.value else { return !member.isDocumentation }
      return member.name.text == "parameters" && object.members.allSatisfy(\.isParameter)
    }
  }
}

extension JSONObject.Member {
  fileprivate var isString: Bool {
    if case .string = self.value.value { true } else { false }
  }

  /// Whether it is a type, or an object with one.
  fileprivate var isParameter: Bool {
    guard case .object(let object) = self.value.value else { return self.isString }
    return object["type"]?.isString == true
  }

  fileprivate var isDocumentation: Bool { self.name.text == "doc" && self.isString }
}
