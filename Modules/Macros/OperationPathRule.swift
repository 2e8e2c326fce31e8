#if SwiftOperationMacros
  public import OperationCore

  /// How the path of an operation is made from its function.
  ///
  /// The macro reads the rule at compile time, so write it directly in the attribute.
  ///
  /// ```swift
  /// @QueryRequest(path: ["posts"])                            // ["posts", 1]
  /// func post(id: Int) async throws -> Post { … }
  ///
  /// @QueryRequest(path: .custom { (id: Int) in ["posts", id, "comments"] })
  /// func comments(postID id: Int) async throws -> [Comment] { … }
  /// ```
  public struct OperationPathRule: Sendable {
    private init() {}

    /// A path of the function, its instance, and its arguments.
    ///
    /// A `Hashable` argument becomes an element of the path; of an `Identifiable` argument that is not `Hashable`, the
    /// `id` does. Two functions never have the same path, whatever their names and arguments.
    public static var inferred: Self { Self() }

    /// Like ``inferred``, but every argument must be `Hashable`.
    public static var inferredFromHashable: Self { Self() }

    /// Like ``inferred``, but only with identifiers.
    ///
    /// An argument named `id` identifies the operation alone: the path does not contain the other arguments. Without
    /// such an argument, the path contains the `id` of every argument, and each must be `Identifiable`.
    ///
    /// ```swift
    /// @QueryRequest(path: .inferredFromIdentifiable)
    /// func post(id: Int, server: Server) async throws -> Post { … }
    ///
    /// @QueryRequest(path: .inferredFromIdentifiable)
    /// func comments(on post: Post) async throws -> [Comment] { … }  // Identified by post.id.
    /// ```
    public static var inferredFromIdentifiable: Self { Self() }

    /// Your path, followed by the arguments as in ``inferred``.
    ///
    /// An array literal is short for this rule: `path: ["posts"]`.
    ///
    /// - Parameter path: The first elements of the path.
    /// - Returns: The rule for the attribute.
    public static func prefixed(by path: OperationPath) -> Self { Self() }

    /// Your path, made from the arguments of the function.
    ///
    /// - Parameter path: Receives the arguments in their order, without those that the run passes. For a member of an
    ///   instance it may take the instance first. Write the types of a closure's parameters.
    /// - Returns: The rule for the attribute.
    public static func custom<each Argument>(_ path: @Sendable (repeat each Argument) -> OperationPath) -> Self {
      Self()
    }
  }

  extension OperationPathRule: ExpressibleByArrayLiteral {
    /// Your path, followed by the arguments as in ``inferred``.
    public init(arrayLiteral elements: (any Hashable & Sendable)...) {
      self.init()
    }
  }
#endif
