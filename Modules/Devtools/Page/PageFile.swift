#if SwiftOperationDevtools
  /// A file of the page.
  ///
  /// The files are written by hand in `Source`, and embedded as texts by `Scripts/devtools-page`, so that a program needs no bundle
  /// of resources. (SwiftPM's `.embedInCode` writes an array of bytes, which takes a compiler over ten seconds.)
  struct PageFile: Sendable {
    let type: String
    let text: String

    /// The files by their paths.
    static let all: [String: PageFile] = [
      "/": PageFile(type: "text/html", text: EmbeddedPage.index),
      "/devtools.css": PageFile(type: "text/css", text: EmbeddedPage.style),
      "/icon.svg": PageFile(type: "image/svg+xml", text: EmbeddedPage.icon),
      "/devtools.js": PageFile(type: "text/javascript", text: EmbeddedPage.script),
    ]
  }
#endif
