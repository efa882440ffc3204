/* session_shop.c — two buyers and a seller as fibers that keep to a protocol, examples/session/two_buyer.session. The
 * functions they call are written by `raddle session project two_buyer.session --role Seller --c > TwoBuyer_Seller.h`,
 * and likewise for the others. A role that leaves the protocol gets an error, and nothing of it reaches the others.
 *
 *     cc session_shop.c $(pkg-config --cflags --libs raddle) -o session_shop && ./session_shop */
#include <raddle.h>
#include <stdio.h>

#include "TwoBuyer_Alice.h"
#include "TwoBuyer_Bob.h"
#include "TwoBuyer_Seller.h"

enum { LIMIT = 30 };

typedef struct shop {
    TwoBuyer session;
    int64_t price;
    bool hasty; /* the seller ships before anybody has paid */
    char outcome[40], mistake[256];
} shop;

static int alice(void *arg)
{
    shop *s = arg;
    TwoBuyer_Alice me;
    int64_t price = 0;
    int code = TwoBuyer_Alice_begin(&me, &s->session);
    if (code == 0) code = TwoBuyer_Alice_send_title_to_Seller(&me, "On Looms", RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Alice_receive_quote_from_Seller(&me, &price, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Alice_send_share_to_Bob(&me, price / 2, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Alice_await(&me, RAD_FOREVER);
    if (code == TwoBuyer_is_accept) code = TwoBuyer_Alice_receive_accept_from_Bob(&me, RAD_FOREVER);
    if (code == TwoBuyer_is_quit) code = TwoBuyer_Alice_receive_quit_from_Bob(&me, RAD_FOREVER);
    TwoBuyer_Alice_end(&me);
    return code;
}

static int bob_buys(TwoBuyer_Bob *me, shop *s)
{
    char *date = NULL;
    int code = TwoBuyer_Bob_send_accept_to_Seller(me, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Bob_send_accept_to_Alice(me, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Bob_send_address_to_Seller(me, "7 Weaver's Row", RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Bob_receive_date_from_Seller(me, &date, RAD_FOREVER);
    if (code == 0) snprintf(s->outcome, sizeof s->outcome, "comes on %s", date);
    rad_text_free(date);
    return code;
}

static int bob(void *arg)
{
    shop *s = arg;
    TwoBuyer_Bob me;
    int64_t price = 0, share = 0;
    int code = TwoBuyer_Bob_begin(&me, &s->session);
    if (code == 0) code = TwoBuyer_Bob_receive_quote_from_Seller(&me, &price, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Bob_receive_share_from_Alice(&me, &share, RAD_FOREVER);
    if (code == 0 && price - share <= LIMIT) {
        code = bob_buys(&me, s);
    } else if (code == 0) {
        snprintf(s->outcome, sizeof s->outcome, "too expensive");
        code = TwoBuyer_Bob_send_quit_to_Seller(&me, RAD_FOREVER);
        if (code == 0) code = TwoBuyer_Bob_send_quit_to_Alice(&me, RAD_FOREVER);
    }
    TwoBuyer_Bob_end(&me);
    return code;
}

static int seller(void *arg)
{
    shop *s = arg;
    TwoBuyer_Seller me;
    char *title = NULL, *address = NULL;
    int code = TwoBuyer_Seller_begin(&me, &s->session);
    if (code == 0) code = TwoBuyer_Seller_receive_title_from_Alice(&me, &title, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Seller_send_quote_to_Alice(&me, s->price, RAD_FOREVER);
    if (code == 0 && s->hasty) code = TwoBuyer_Seller_send_date_to_Bob(&me, "Monday", RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Seller_send_quote_to_Bob(&me, s->price, RAD_FOREVER);
    if (code == 0) code = TwoBuyer_Seller_await(&me, RAD_FOREVER);
    if (code == TwoBuyer_is_quit) code = TwoBuyer_Seller_receive_quit_from_Bob(&me, RAD_FOREVER);
    if (code == TwoBuyer_is_accept) {
        code = TwoBuyer_Seller_receive_accept_from_Bob(&me, RAD_FOREVER);
        if (code == 0) code = TwoBuyer_Seller_receive_address_from_Bob(&me, &address, RAD_FOREVER);
        if (code == 0) code = TwoBuyer_Seller_send_date_to_Bob(&me, "Monday", RAD_FOREVER);
    }
    if (code == RAD_EPROTOCOL) snprintf(s->mistake, sizeof s->mistake, "%s", TwoBuyer_Seller_error(&me));
    if (code < 0) TwoBuyer_close(&s->session, code); /* no role waits for this seller any more */
    rad_text_free(title);
    rad_text_free(address);
    TwoBuyer_Seller_end(&me);
    return code;
}

static int start(void *unused)
{
    (void)unused;
    shop shops[] = {{.price = 40}, {.price = 90}, {.price = 40, .hasty = true}};
    for (int i = 0; i < 3; i++) {
        rad_nursery n;
        if (TwoBuyer_open(&shops[i].session, 1) != 0) return 1;
        rad_nursery_open(&n, RAD_FOREVER);
        rad_nursery_go(&n, alice, &shops[i]);
        rad_nursery_go(&n, bob, &shops[i]);
        rad_nursery_go(&n, seller, &shops[i]);
        bool failed = rad_nursery_wait(&n) != 0;
        TwoBuyer_destroy(&shops[i].session);
        printf("%s\n", failed ? shops[i].mistake : shops[i].outcome);
    }
    return 0;
}

int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
