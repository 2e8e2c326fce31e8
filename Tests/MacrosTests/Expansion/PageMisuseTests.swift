#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct PageMisuseTests {
    private let noPage = """
      a paginated request has a parameter 'page', which receives the identifier of the page to load, \
      or a parameter of the type 'Paging'
      """

    @Test func `A request without a page is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func →feed(id: Int) -> Feed { Feed(id) }
        """,
        self.noPage,
        remedy: "add a parameter 'page'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(id: Int, page: <#PageID#>) -> Feed { Feed(id) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func →feed() -> Feed { Feed() }
        """,
        self.noPage,
        remedy: "add a parameter 'page'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: <#PageID#>) -> Feed { Feed() }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func →feed(
          id: Int,
          name: String = ""  // of the user
        ) -> Feed { Feed(id) }
        """,
        self.noPage,
        remedy: "add a parameter 'page'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(
          id: Int,
          name: String = "",  // of the user
          page: <#PageID#>
        ) -> Feed { Feed(id) }
        """
      )
    }

    @Test func `A second page is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: Int, →after pageId: Int) -> Feed { Feed(page) }
        """,
        "a paginated request has one parameter 'page', which receives the identifier of the page to load",
        remedy: "remove the parameter",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(paging: Paging<Int, Feed>, →other: Paging<Int, Feed>) -> Feed { Feed(0) }
        """,
        "a run passes one 'Paging<Int, Feed>'; the function already has a parameter for it",
        remedy: "remove the parameter",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(paging: Paging<Int, Feed>) -> Feed { Feed(0) }
        """
      )
    }

    @Test func `A paging that is optional or of another page is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(paging: →Paging<Int, Feed>?) -> Feed { Feed(0) }
        """,
        "every run passes one, so the parameter need not be optional",
        remedy: "remove '?'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(paging: Paging<Int, Feed>) -> Feed { Feed(0) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: Int, paging: →Paging<String, Feed>) -> Feed { Feed(0) }
        """,
        "the paging has the identifier of the page and what the function returns, so its type is 'Paging<Int, Feed>'",
        remedy: "replace the type with 'Paging<Int, Feed>'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: Int, paging: Paging<Int, Feed>) -> Feed { Feed(0) }
        """
      )
    }

    @Test func `A request without a first page is refused`() {
      let message = """
        the request needs the identifier of the page that is loaded first: write 'initialPageId:', or a default value \
        of the parameter 'page'
        """
      expectMisuse(
        """
        →@PaginatedRequest(path: ["feed"], next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        message,
        remedy: "add 'initialPageId:'",
        """
        @PaginatedRequest(path: ["feed"], initialPageId: <#page id#>, next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        →@PaginatedRequest(
          next: \\.next
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        message,
        remedy: "add 'initialPageId:'",
        """
        @PaginatedRequest(
          initialPageId: <#page id#>,
          next: \\.next
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `A request that does not know the next page is refused`() {
      let message = """
        the request needs to know which page comes after a page: write 'next:' with a key path of the page's value, \
        a closure, the name of a function, or 'nil' if no page does
        """
      expectMisuse(
        """
        →@PaginatedRequest
        func feed(page: Int = 0) -> Feed { Feed(page) }
        """,
        message,
        remedy: "add 'next:'",
        """
        @PaginatedRequest(next: \\.<#nextPageId#>)
        func feed(page: Int = 0) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        →@PaginatedRequest(
          path: ["feed"],
          initialPageId: 0  // the first
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        message,
        remedy: "add 'next:'",
        """
        @PaginatedRequest(
          path: ["feed"],
          initialPageId: 0,  // the first
          next: \\.<#nextPageId#>
        )
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `A request that knows no page is refused`() {
      expectMisuse(
        """
        →@PaginatedRequest
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        """
        the request needs 'initialPageId:', the identifier of the page that is loaded first, and 'next:', where the \
        identifier of the page after a page comes from
        """,
        remedy: "add 'initialPageId:' and 'next:'",
        """
        @PaginatedRequest(initialPageId: <#page id#>, next: \\.<#nextPageId#>)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test(arguments: ["next", "previous"]) func `A literal as the next or the previous page is refused`(label: String) {
      let others = label == "next" ? "" : "next: nil, "
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, \(others)\(label): →1)
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        """
        '\(label):' says how to find the identifier of another page: write a key path of the page's value, a closure, \
        the name of a function, or 'nil' if there is no such page
        """,
        remedy: "replace it with a key path",
        """
        @PaginatedRequest(initialPageId: 0, \(others)\(label): \\.<#pageId#>)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `A closure for the first page that takes other things than arguments is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: { (→page: Int) in page }, next: \\.next)
        func feed(first: Int, page: Int) -> Feed { Feed(page) }
        """,
        "the parameters of the closure have the names of arguments of the request: 'first'",
        remedy: "take the arguments",
        """
        @PaginatedRequest(initialPageId: { (first: Int) in page }, next: \\.next)
        func feed(first: Int, page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `A closure for another page that takes unknown things is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: { (page: Page<Int, Feed>, →limit: Int) in page.id + 1 })
        func feed(size: Int, page: Int) -> Feed { Feed(page) }
        """,
        """
        the parameters of the closure have the types 'Page', 'Paging' and 'OperationContext', or the names of arguments \
        of the request: 'size'
        """,
        remedy: "take the page",
        """
        @PaginatedRequest(initialPageId: 0, next: { (page: Page<Int, Feed>) in page.id + 1 })
        func feed(size: Int, page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `What is no rule for the path is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(path: →rule, initialPageId: 0, next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """,
        """
        the macro reads the rule of the path in the attribute: write an array literal, '.inferred', \
        '.inferredFromHashable', '.inferredFromIdentifiable', '.prefixed(by:)' or '.custom { … }'
        """,
        remedy: "infer the path",
        """
        @PaginatedRequest(path: .inferred, initialPageId: 0, next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(path: .custom →{ (page: Int, id: Int) in ["feed", page, id] }, initialPageId: 0, next: \\.next)
        func feed(id: Int, page: Int) -> Feed { Feed(page) }
        """,
        "the closure receives 'id', so it needs 1 parameter",
        remedy: "take the arguments",
        """
        @PaginatedRequest(path: .custom { (id: Int) in ["feed", page, id] }, initialPageId: 0, next: \\.next)
        func feed(id: Int, page: Int) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(→by size: () -> Int, page: Int) -> Feed { Feed(page) }
        """,
        "nothing identifies a closure, so the path cannot be inferred; write it yourself",
        remedy: "add a path of your own",
        """
        @PaginatedRequest(path: .custom { (size: @escaping @Sendable () -> Int) in [<#path#>] }, initialPageId: 0, next: \\.next)
        func feed(by size: () -> Int, page: Int) -> Feed { Feed(page) }
        """
      )
    }

    @Test func `An argument that cannot be passed in each run is refused`() {
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: →inout Int) -> Feed { Feed(page) }
        """,
        "an operation stores its arguments and passes them in each run, so a parameter cannot be 'inout'",
        remedy: "remove 'inout'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(page: Int) -> Feed { Feed(page) }
        """
      )
      expectMisuse(
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(ids: Int→..., page: Int) -> Feed { Feed(page) }
        """,
        "an operation cannot pass on a variadic argument; take an array",
        remedy: "replace 'Int...' with '[Int]'",
        """
        @PaginatedRequest(initialPageId: 0, next: \\.next)
        func feed(ids: [Int], page: Int) -> Feed { Feed(page) }
        """
      )
    }
  }
#endif
