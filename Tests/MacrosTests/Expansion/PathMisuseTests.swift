#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct PathMisuseTests {
    @Test func `A rule that is not written out is refused`() {
      expectMisuse(
        """
        @QueryRequest(path: →rule)
        func post(id: Int) -> Int { id }
        """,
        """
        the macro reads the rule of the path in the attribute: write an array literal, '.inferred', \
        '.inferredFromHashable', '.inferredFromIdentifiable', '.prefixed(by:)' or '.custom { … }'
        """,
        remedy: "infer the path",
        """
        @QueryRequest(path: .inferred)
        func post(id: Int) -> Int { id }
        """
      )
    }

    @Test func `A closure that does not take the arguments is refused`() {
      expectMisuse(
        """
        @QueryRequest(path: .custom →{ (id: Int) in ["posts", id] })
        func post(id: Int, of user: String, context: OperationContext) -> Int { id }
        """,
        "the closure receives 'id', 'user', so it needs 2 parameters",
        remedy: "take the arguments",
        """
        @QueryRequest(path: .custom { (id: Int, user: String) in ["posts", id] })
        func post(id: Int, of user: String, context: OperationContext) -> Int { id }
        """
      )
      expectMisuse(
        """
        @QueryRequest(path: .custom →{ ["posts"] })
        func post(id: Int) -> Int { id }
        """,
        "the closure receives 'id', so it needs 1 parameter",
        remedy: "take the arguments",
        """
        @QueryRequest(path: .custom { (id: Int) in ["posts"] })
        func post(id: Int) -> Int { id }
        """
      )
      expectMisuse(
        """
        @MutationRequest(path: .custom →{ (arguments: Int) in ["posts", arguments] })
        func post(arguments: Int) -> Int { arguments }
        """,
        "the closure receives no arguments, so it needs no parameters",
        remedy: "take the arguments",
        """
        @MutationRequest(path: .custom { ["posts", arguments] })
        func post(arguments: Int) -> Int { arguments }
        """
      )
    }

    @Test func `The fix-it of a closure escapes an argument with the name of a keyword`() {
      expectMisuse(
        """
        @QueryRequest(path: .custom →{ ["posts"] })
        func posts(in: Int) -> Int { 1 }
        """,
        "the closure receives 'in', so it needs 1 parameter",
        remedy: "take the arguments",
        """
        @QueryRequest(path: .custom { (`in`: Int) in ["posts"] })
        func posts(in: Int) -> Int { 1 }
        """
      )
    }

    @Test func `A closure in parentheses as an argument needs a custom path`() {
      expectMisuse(
        """
        @QueryRequest
        func post(→by: (() -> Int)) -> Int { by() }
        """,
        "nothing identifies a closure, so the path cannot be inferred; write it yourself",
        remedy: "add a path of your own",
        """
        @QueryRequest(path: .custom { (by: @escaping @Sendable () -> Int) in [<#path#>] })
        func post(by: (() -> Int)) -> Int { by() }
        """
      )
    }

    @Test func `A closure as an argument needs a custom path`() {
      expectMisuse(
        """
        @QueryRequest
        func post(id: Int, →by fetching: () -> Int) -> Int { fetching() }
        """,
        "nothing identifies a closure, so the path cannot be inferred; write it yourself",
        remedy: "add a path of your own",
        """
        @QueryRequest(path: .custom { (id: Int, fetching: @escaping @Sendable () -> Int) in [<#path#>] })
        func post(id: Int, by fetching: () -> Int) -> Int { fetching() }
        """
      )
    }
  }
#endif
