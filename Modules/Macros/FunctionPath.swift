#if SwiftOperationMacros
  public import OperationCore

  /// What the macros make inferred paths of.
  public enum FunctionPath {
    /// The path of a function: what tells it from all others, then what identifies its arguments.
    public static func inferred<Origin>(
      _ name: String,
      of origin: Origin.Type,
      _ arguments: OperationPath.Element...
    ) -> OperationPath {
      var path: OperationPath = [Function(name: name, origin: ObjectIdentifier(origin))]
      path.append(contentsOf: arguments)
      return path
    }

    /// A path of the user's, then what identifies the arguments.
    public static func inferred(after prefix: OperationPath, _ arguments: OperationPath.Element...) -> OperationPath {
      var path = prefix
      path.append(contentsOf: arguments)
      return path
    }

    private struct Function: Hashable, CustomStringConvertible {
      let name: String
      let origin: ObjectIdentifier

      static func == (lhs: Self, rhs: Self) -> Bool { lhs.origin == rhs.origin }

      func hash(into hasher: inout Hasher) { hasher.combine(self.origin) }

      var description: String { self.name }
    }
  }

  extension FunctionPath {
    /// An argument as it is.
    public static func argument(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of an argument.
    public static func argument<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// An argument as it is: being equal says more than having one identifier.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument)
    }

    /// The identifier of an argument, if there is one.
    public static func argument<Argument: Identifiable>(_ argument: Argument?) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument?.id)
    }

    /// An argument as it is, if there is one.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument?
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument)
    }

    /// The identifiers of arguments.
    public static func argument<Argument: Identifiable>(_ arguments: [Argument]) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(arguments.map(\.id))
    }

    /// Arguments as they are.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ arguments: [Argument]
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(arguments)
    }

    /// The identity of a type.
    public static func argument<Argument>(_ argument: Argument.Type) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(argument))
    }

    /// Nothing that could identify the argument.
    @available(
      *,
      unavailable,
      message: "a path needs Hashable or Identifiable arguments; say it yourself with 'path: .custom { … }'"
    )
    public static func argument<Argument>(_ argument: Argument) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(Argument.self))
    }
  }

  extension FunctionPath {
    /// An argument as it is.
    public static func hashable(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of an argument.
    public static func identifiable<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// An argument that is an identifier.
    public static func identifier(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of an argument.
    public static func identifier<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// The identifier of an argument.
    public static func identifier<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }
  }

  extension FunctionPath {
    /// The value that the function is a member of, as it is.
    public static func instance(_ instance: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(instance)
    }

    /// The identifier of the value that the function is a member of.
    public static func instance<Instance: Identifiable>(_ instance: Instance) -> OperationPath.Element
    where Instance.ID: Sendable {
      OperationPath.Element(instance.id)
    }

    /// The value that the function is a member of, as it is: being equal says more than having one identifier.
    public static func instance<Instance: Hashable & Sendable & Identifiable>(
      _ instance: Instance
    ) -> OperationPath.Element where Instance.ID: Sendable {
      OperationPath.Element(instance)
    }

    /// The identity of the object that the function is a member of, which lives as long as the operation.
    @_disfavoredOverload
    public static func instance(_ instance: some AnyObject) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(instance))
    }

    /// Nothing that could identify the value.
    @available(
      *,
      unavailable,
      message:
        "a path needs a Hashable or Identifiable type around the function; say it yourself with 'path: .custom { … }'"
    )
    public static func instance<Instance>(_ instance: Instance) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(Instance.self))
    }
  }
#endif
