/// The arguments of the tool.
///
///     generate --import OperationCore --output OperationPathKeys.generated.swift OperationPaths.json …
///     list [--json] [--check] --target App OperationPaths.json … --target …
enum Invocation {
  struct Generation {
    var module = "OperationCore"
    var output = ""
    var inputs: [String] = []
  }

  struct Listing {
    var isJSON = false
    var checks = false
    var targets: [(name: String, inputs: [String])] = []
  }

  case generate(Generation)
  case list(Listing)

  init(arguments: some Sequence<String>) throws(ToolFailure) {
    var arguments = Array(arguments)[...]
    switch arguments.popFirst() {
    case "generate": self = .generate(try Generation(arguments))
    case "list": self = .list(try Listing(arguments))
    case let command?: throw ToolFailure("unknown command '\(command)'; use 'generate' or 'list'")
    case nil: throw ToolFailure("no command; use 'generate' or 'list'")
    }
  }
}

extension Invocation.Generation {
  fileprivate init(_ rest: ArraySlice<String>) throws(ToolFailure) {
    var arguments = rest
    while let argument = arguments.popFirst() {
      switch argument {
      case "--import": self.module = try arguments.popValue(of: argument)
      case "--output": self.output = try arguments.popValue(of: argument)
      default: self.inputs.append(try argument.asInput())
      }
    }
    guard !self.output.isEmpty else { throw ToolFailure("no output; name a file by --output") }
    guard !self.inputs.isEmpty else { throw ToolFailure("no input; name at least one OperationPaths.json") }
  }
}

extension Invocation.Listing {
  fileprivate init(_ rest: ArraySlice<String>) throws(ToolFailure) {
    var arguments = rest
    while let argument = arguments.popFirst() {
      switch argument {
      case "--json": self.isJSON = true
      case "--check": self.checks = true
      case "--target": self.targets.append((try arguments.popValue(of: argument), []))
      default:
        let input = try argument.asInput()
        guard !self.targets.isEmpty else { throw ToolFailure("'\(input)' belongs to no target; name it by --target") }
        self.targets[self.targets.count - 1].inputs.append(input)
      }
    }
  }
}

extension ArraySlice<String> {
  fileprivate mutating func popValue(of option: String) throws(ToolFailure) -> String {
    guard let value = self.popFirst() else { throw ToolFailure("\(option) needs a value") }
    return value
  }
}

extension String {
  fileprivate func asInput() throws(ToolFailure) -> String {
    guard !self.hasPrefix("-") else { throw ToolFailure("unknown option '\(self)'") }
    return self
  }
}
