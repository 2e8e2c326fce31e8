#if SwiftOperationMacros
  import TestFixtures
  import Testing

  // Fix-its keep the lines and the comments around what they change.

  @Suite(.bounded) struct LineBreakTests {
    @Test(arguments: ["", "public "]) func `A removed modifier at the start of a line leaves the line`(next: String) {
      expectMisuse(
        """
        struct Counter {
          /// The next number.
          @QueryRequest
          →mutating \(next)func next() -> Int { 1 }
        }
        """,
        "an operation stores the instance and runs any number of times, so its function cannot be 'mutating'",
        remedy: "remove 'mutating'",
        """
        struct Counter {
          /// The next number.
          @QueryRequest
          \(next)func next() -> Int { 1 }
        }
        """
      )
      expectMisuse(
        """
        extension OperationContext {
          @ContextEntry
          →static \(next)var greeting = ""
        }
        """,
        "an entry of the context is a property of each context, so it cannot be 'static'",
        remedy: "remove 'static'",
        """
        extension OperationContext {
          @ContextEntry
          \(next)var greeting = ""
        }
        """
      )
    }

    @Test func `A removed attribute at the start of a line leaves the line`() {
      expectMisuse(
        """
        struct Post {
          @MainActor
          →@QueryRequest var title: String { "" }
        }
        """,
        "'@QueryRequest' makes an operation of a function; it cannot be applied to anything else",
        remedy: "remove '@QueryRequest'",
        """
        struct Post {
          @MainActor
          var title: String { "" }
        }
        """
      )
    }

    @Test func `A removed attribute leaves comments`() {
      expectMisuse(
        """
        // A post.
        →@QueryRequest
        // It has a title.
        struct Post {
        }
        """,
        "'@QueryRequest' makes an operation of a function; it cannot be applied to anything else",
        remedy: "remove '@QueryRequest'",
        """
        // A post.
        // It has a title.
        struct Post {
        }
        """
      )
    }

    @Test func `An added path leaves the line of the attribute and its comment`() {
      expectMisuse(
        """
        struct Posts {
          @MainActor
          @QueryRequest  // all
          func post(→by: () -> Int) -> Int { by() }
        }
        """,
        "nothing identifies a closure, so the path cannot be inferred; write it yourself",
        remedy: "add a path of your own",
        """
        struct Posts {
          @MainActor
          @QueryRequest(path: .custom { (by: @escaping @Sendable () -> Int) in [<#path#>] })  // all
          func post(by: () -> Int) -> Int { by() }
        }
        """
      )
    }

    @Test func `Replaced parameters of a closure leave its lines and its result`() {
      expectMisuse(
        """
        @PaginatedRequest(
          initialPageId: 0,
          next: {
            (→limit: Int) -> Int? in
            if limit > 1 { return nil }
            return limit
          }
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        "the parameters of the closure have the types 'Page', 'Paging' and 'OperationContext'",
        remedy: "take the page",
        """
        @PaginatedRequest(
          initialPageId: 0,
          next: {
            (page: Page<Int, Feed>) -> Int? in
            if limit > 1 { return nil }
            return limit
          }
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `An added initial value leaves a comment`() {
      expectMisuse(
        """
        extension OperationContext {
          @ContextEntry
          var →greeting: String  // for all
        }
        """,
        "an entry of the context needs an initial value: the value in a context where the entry was never set",
        remedy: "add an initial value",
        """
        extension OperationContext {
          @ContextEntry
          var greeting: String = <#value#>  // for all
        }
        """
      )
    }
  }
#endif
