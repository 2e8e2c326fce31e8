#if SwiftOperationMacros
  public import OperationCore

  /// The paths and path elements that generated code uses.
  public enum FunctionPath {
    /// The path of a function: an element that identifies the function, then the elements of its arguments.
    public static func inferred<Origin>(
      _ name: String,
      of origin: Origin.Type,
      _ arguments: OperationPath.Element...
    ) -> OperationPath {
      var path: OperationPath = [Function(name: name, origin: ObjectIdentifier(origin))]
      path.append(contentsOf: arguments)
      return path
    }

    /// A path of the user, then the elements of the arguments.
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
    /// The argument itself.
    public static func argument(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of the argument.
    public static func argument<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// The argument itself: equality is more precise than the identifier.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument)
    }

    /// The identifier of the argument, or nil.
    public static func argument<Argument: Identifiable>(_ argument: Argument?) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument?.id)
    }

    /// The argument itself, or nil.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument?
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument)
    }

    /// The identifiers of the arguments.
    public static func argument<Argument: Identifiable>(_ arguments: [Argument]) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(arguments.map(\.id))
    }

    /// The arguments themselves.
    public static func argument<Argument: Hashable & Sendable & Identifiable>(
      _ arguments: [Argument]
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(arguments)
    }

    /// The identity of an object, which lives as long as the operation.
    @_disfavoredOverload
    public static func argument(_ argument: some AnyObject) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(argument))
    }

    /// The identity of an object, which lives as long as the operation, or nil.
    @_disfavoredOverload
    public static func argument<Argument: AnyObject>(_ argument: Argument?) -> OperationPath.Element {
      OperationPath.Element(argument.map { ObjectIdentifier($0) })
    }

    /// The identities of objects, which live as long as the operation.
    @_disfavoredOverload
    public static func argument<Argument: AnyObject>(_ arguments: [Argument]) -> OperationPath.Element {
      OperationPath.Element(arguments.map { ObjectIdentifier($0) })
    }

    /// The identity of a type.
    public static func argument<Argument>(_ argument: Argument.Type) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(argument))
    }

    /// Unavailable: nothing identifies the argument.
    @available(
      *,
      unavailable,
      message: "a path needs Hashable or Identifiable arguments; write the path with 'path: .custom { … }'"
    )
    public static func argument<Argument>(_ argument: Argument) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(Argument.self))
    }
  }

  extension FunctionPath {
    /// The argument itself.
    public static func hashable(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of the argument.
    public static func identifiable<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// The argument itself, which is an identifier.
    public static func identifier(_ argument: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(argument)
    }

    /// The identifier of the argument.
    public static func identifier<Argument: Identifiable>(_ argument: Argument) -> OperationPath.Element
    where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }

    /// The identifier of the argument.
    public static func identifier<Argument: Hashable & Sendable & Identifiable>(
      _ argument: Argument
    ) -> OperationPath.Element where Argument.ID: Sendable {
      OperationPath.Element(argument.id)
    }
  }

  extension FunctionPath {
    /// The instance that the function is a member of.
    public static func instance(_ instance: some Hashable & Sendable) -> OperationPath.Element {
      OperationPath.Element(instance)
    }

    /// The identifier of the instance that the function is a member of.
    public static func instance<Instance: Identifiable>(_ instance: Instance) -> OperationPath.Element
    where Instance.ID: Sendable {
      OperationPath.Element(instance.id)
    }

    /// The instance that the function is a member of: equality is more precise than the identifier.
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

    /// Unavailable: nothing identifies the instance.
    @available(
      *,
      unavailable,
      message:
        "a path needs a Hashable or Identifiable type around the function; write the path with 'path: .custom { … }'"
    )
    public static func instance<Instance>(_ instance: Instance) -> OperationPath.Element {
      OperationPath.Element(ObjectIdentifier(Instance.self))
    }
  }
#endif
