// Made by Scripts/devtools-page.
#if SwiftOperationDevtools
  /// The files of the page, as they are in `Source`.
  enum EmbeddedPage {
    /// The scripts, one after the other.
    static let script = [
      basics,
      model,
      connection,
      tree,
      details,
      panels,
      timeline,
      gestures,
      ranges,
      graph,
      events,
      recording,
      waits,
      page,
      address,
      controls,
    ].joined()
  }
#endif
