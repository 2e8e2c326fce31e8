// Made by Scripts/devtools-page.
// swift-format-ignore-file
#if SwiftOperationDevtools
extension EmbeddedPage {
  static let icon = ##"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="5" fill="#4338ca"/>
<path d="M3 5h6M5 8h8M3 11h5" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>

"""##
}
#endif
